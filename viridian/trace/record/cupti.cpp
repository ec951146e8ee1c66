#include "viridian/trace/record/cupti.hpp"

#include <unordered_map>

#include "viridian/trace/record/cupti_name.hpp"

namespace viridian::trace {

struct CuptiRecorder::Events {
    Trace about;
    std::vector<Event> events;

    static void take(void* context, const cupti::Activity& work) {
        Events& self = *static_cast<Events*>(context);
        Event event;
        event.start = work.start_ns;
        event.end = work.end_ns;
        event.kind = work.kind == cupti::kernel_kind ? Kind::kernel
                     : work.kind == cupti::copy_kind ? Kind::copy
                                                     : Kind::fill;
        event.name = event.type = self.about.names.add(cupti::name_of(work));
        event.device = self.about.device("cuda:" + std::to_string(work.device));
        event.lane = self.about.lane(event.device, 0, work.stream);
        event.correlation = work.correlation;
        self.events.push_back(event);
    }
};

CuptiRecorder::CuptiRecorder() : events_(std::make_unique<Events>()) {
    events_->about.format = "cupti";
    events_->about.source = "cupti";
}
CuptiRecorder::~CuptiRecorder() {
    if (running_) cupti::stop();
}

Result<std::unique_ptr<CuptiRecorder>> CuptiRecorder::start(const std::string& library) {
    std::unique_ptr<CuptiRecorder> recorder(new CuptiRecorder);
    const std::string wrong = cupti::start(library, Events::take, recorder->events_.get());
    if (!wrong.empty())
        return fail(ErrorCode::no_device, "install CUDA's CUPTI where there is an NVIDIA GPU",
                    "kernels cannot be recorded: {}", wrong);
    recorder->running_ = true;
    return recorder;
}

std::unique_ptr<Source> CuptiRecorder::finish() {
    if (running_) events_->about.lost_events = cupti::stop();
    running_ = false;
    return from_memory(std::move(events_->about), std::move(events_->events));
}

}  // namespace viridian::trace
