// Meters in this process: windows of energy, and recordings of power.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include "python/binding/errors.hpp"
#include "python/binding/parts.hpp"
#include "viridian/meter/log/power_recording.hpp"
#include "viridian/meter/meters/list.hpp"
#include "viridian/meter/monitor/monitor.hpp"

namespace viridian::python {
namespace {

using Paths = std::map<std::string, std::string>;

// One meter of every kind of device, or the one called `name`. `paths` are by meter; "root" is the folder of
// sysfs and procfs.
std::vector<meter::Meter> open_meters(const std::string& name, const Paths& paths) {
    meter::MeterPaths where;
    for (const auto& [key, path] : paths) {
        if (key == "root")
            where.root = path;
        else
            where.of.emplace(key, path);
    }
    if (name.empty()) return value_or_throw(meter::open_all(where));
    std::vector<meter::Meter> one;
    one.push_back(value_or_throw(meter::open(name, where)));
    return one;
}

std::vector<std::string> meter_names() {
    std::vector<std::string> names;
    for (const meter::Row& row : meter::rows()) names.emplace_back(row.name);
    return names;
}

// The monitor of this process. A forked child has no sampling thread, so the child must not end it.
class Windows {
  public:
    Windows(const std::string& name, const Paths& paths) {
        meter::MonitorOptions options;
        options.most_sessions = 1'000'000;
        options.most_samples = 1;  // nobody asks for samples
        monitor_ = std::make_unique<meter::Monitor>(open_meters(name, paths), options);
    }
    ~Windows() {
        if (::getpid() != process_) static_cast<void>(monitor_.release());
    }
    Windows(const Windows&) = delete;
    Windows& operator=(const Windows&) = delete;

    [[nodiscard]] std::string begin() {
        const Seconds month(30.0 * 24 * 3600);
        Result<meter::Started> started = monitor_->start({.process = process_, .lease = month});
        if (!started.ok()) started = monitor_->start({.lease = month});  // procfs hides processes
        return value_or_throw(std::move(started)).session;
    }
    [[nodiscard]] meter::Epoch end(const std::string& window) {
        return value_or_throw(monitor_->stop(window)).whole;
    }
    // The channels are the same for all windows.
    [[nodiscard]] meter::Snapshot snapshot() { return monitor_->snapshot(); }
    // Whether a part of the total comes from a model, because no meter covers it.
    [[nodiscard]] bool estimated() {
        const meter::Snapshot now = snapshot();
        for (std::size_t i = 0; i < now.channels.size(); ++i)
            if (now.counted[i] && now.channels[i].provenance().kind == Provenance::Kind::estimated)
                return true;
        return false;
    }

  private:
    int process_ = ::getpid();
    std::unique_ptr<meter::Monitor> monitor_;
};

// A power log that is being written. A forked child has no sampling thread, and its parent goes on writing,
// so the child neither waits for the one nor ends the other.
class PowerRecording {
  public:
    PowerRecording(const std::string& path, const std::string& name, const Paths& paths)
        : recording_(std::make_unique<meter::PowerRecording>(
              value_or_throw(meter::PowerRecording::start(path, open_meters(name, paths))))) {
        recording_->watch(process_);
        recording_->read_now();
    }
    ~PowerRecording() {
        if (::getpid() != process_) static_cast<void>(recording_.release());
    }
    PowerRecording(const PowerRecording&) = delete;
    PowerRecording& operator=(const PowerRecording&) = delete;

    void stop() {
        if (::getpid() != process_) return;
        const meter::PowerRecording::Ended ended = recording_->stop();
        if (ended.failed) throw Failure{to_public(*ended.failed)};
    }

  private:
    int process_ = ::getpid();
    std::unique_ptr<meter::PowerRecording> recording_;
};

nb::tuple energy_tuple(const Energy& energy) {
    return nb::make_tuple(energy.value.value, energy.low.value, energy.high.value, energy.provenance.text());
}

nb::dict window_dict(const meter::Epoch& epoch, const meter::Snapshot& snapshot) {
    nb::dict out;
    out["seconds"] = epoch.seconds.value;
    out["energy"] = energy_tuple(epoch.total);
    out["complete"] = epoch.complete;
    out["warnings"] = epoch.warnings;
    out["begin_ns"] = epoch.begin_ns;
    out["end_ns"] = epoch.end_ns;
    nb::list channels;
    for (const meter::EpochEnergy& one : epoch.energies) {
        const meter::Channel& channel = snapshot.channels[one.channel];
        channels.append(nb::make_tuple(channel.device, std::string(meter::name_of(channel.scope)),
                                       one.counted, energy_tuple(one.energy), one.process_share));
    }
    out["channels"] = channels;
    return out;
}

}  // namespace

void add_meters(nb::module_& module) {
    module.def("meter_names", &meter_names);
    nb::class_<Windows>(module, "Windows", "The meters of this process, read while windows are open.")
        .def(nb::init<const std::string&, const Paths&>(), nb::arg("meter"), nb::arg("paths"),
             nb::call_guard<nb::gil_scoped_release>())
        .def("begin", &Windows::begin, nb::call_guard<nb::gil_scoped_release>())
        .def("estimated", &Windows::estimated, nb::call_guard<nb::gil_scoped_release>())
        .def(
            "end",
            [](Windows& windows, const std::string& window) {
                std::optional<meter::Epoch> epoch;
                std::optional<meter::Snapshot> snapshot;
                {
                    const nb::gil_scoped_release released;
                    epoch = windows.end(window);
                    snapshot = windows.snapshot();
                }
                return window_dict(*epoch, *snapshot);
            },
            nb::arg("window"));
    nb::class_<PowerRecording>(module, "PowerRecording", "Samples all meters into a power log.")
        .def(nb::init<const std::string&, const std::string&, const Paths&>(), nb::arg("path"),
             nb::arg("meter"), nb::arg("paths"), nb::call_guard<nb::gil_scoped_release>())
        .def("stop", &PowerRecording::stop, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace viridian::python
