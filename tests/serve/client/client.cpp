// viridian_serve_client ADDRESS TOKEN: starts a session with a lease of 1 s, holds two streams on it, says
// so, and waits to be killed.
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "viridian/serve/monitor.grpc.pb.h"

namespace messages = viridian::monitor::v1;

int main(int count, char** arguments) {
    if (count != 3) return 1;
    const auto stub =
        messages::Monitor::NewStub(grpc::CreateChannel(arguments[1], grpc::InsecureChannelCredentials()));
    grpc::ClientContext start_context, contexts[2];
    for (grpc::ClientContext* context : {&start_context, &contexts[0], &contexts[1]})
        context->AddMetadata("authorization", std::string("Bearer ") + arguments[2]);
    messages::StartRequest start;
    messages::StartReply started;
    start.set_process(::getpid());
    start.set_lease_seconds(1.0);
    if (!stub->Start(&start_context, start, &started).ok()) return 1;
    messages::StreamRequest request;
    request.set_session(started.session());
    request.set_interval_ms(10);
    const auto reading = stub->Stream(&contexts[0], request);
    messages::Batch batch;
    if (!reading->Read(&batch)) return 1;
    const auto stuck = stub->Stream(&contexts[1], request);  // nobody reads this one
    stuck->WaitForInitialMetadata();
    std::puts(started.session().c_str());
    std::fflush(stdout);
    while (reading->Read(&batch)) {
    }
    return 1;
}
