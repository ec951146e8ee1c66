#include "viridian/serve/server.hpp"

#include <arpa/inet.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>

#include "tests/meter/scripted.hpp"
#include "viridian/base/random.hpp"
#include "viridian/serve/monitor.grpc.pb.h"

extern char** environ;

namespace viridian::serve {
namespace {

namespace messages = monitor::v1;
using meter::tests::Scripted;
using meter::tests::until;

const std::string test_token = "0123456789abcdef0123456789abcdef";

// A call's context that carries `token`.
struct WithToken : grpc::ClientContext {
    explicit WithToken(const std::string& token = test_token) {
        AddMetadata("authorization", "Bearer " + token);
    }
};

struct Running {
    Scripted script;
    std::unique_ptr<Server> server;
    std::shared_ptr<grpc::Channel> channel;
    std::unique_ptr<messages::Monitor::Stub> stub;

    explicit Running(bool metrics = false, const std::string& listen = "127.0.0.1:0") {
        ServerOptions options{.listen = *parse_address(listen), .token = test_token};
        if (metrics) options.metrics = *parse_address("0");  // its library takes two seconds to end
        auto opened = Server::open(script.meters(), options);
        if (!opened.ok()) ADD_FAILURE() << opened.error().text();
        server = std::move(*opened);
        channel = grpc::CreateChannel(server->grpc_address(), grpc::InsecureChannelCredentials());
        stub = messages::Monitor::NewStub(channel);
    }
    messages::StartReply start(messages::StartRequest request = {}) const {
        WithToken context;
        messages::StartReply reply;
        const grpc::Status status = stub->Start(&context, request, &reply);
        EXPECT_TRUE(status.ok()) << status.error_message();
        return reply;
    }
    grpc::Status read(const std::string& session, messages::Epoch& epoch, bool samples = false) const {
        WithToken context;
        messages::ReadRequest request;
        request.set_session(session);
        request.set_label("epoch 7");
        request.set_samples(samples);
        return stub->Read(&context, request, &epoch);
    }
    grpc::Status stop(const std::string& session, messages::StopReply& reply) const {
        WithToken context;
        messages::StopRequest request;
        request.set_session(session);
        return stub->Stop(&context, request, &reply);
    }
};

std::size_t entries(const char* folder) {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator{}));
}

int connect_to(int port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(static_cast<std::uint16_t>(port));
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket, reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
    return socket;
}

int port_of(const std::string& address) { return std::stoi(address.substr(address.rfind(':') + 1)); }

std::string get_metrics(const Server& server, const std::string& header = "Bearer " + test_token,
                        const std::string& page = "/metrics") {
    const std::string& url = server.metrics_url();
    const int socket = connect_to(std::stoi(url.substr(url.rfind(':') + 1)));
    const std::string request = "GET " + page + " HTTP/1.0\r\nHost: localhost\r\n" +
                                (header.empty() ? std::string() : "Authorization: " + header + "\r\n") +
                                "\r\n";
    EXPECT_EQ(::send(socket, request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
    std::string text(1 << 20, '\0');
    std::size_t size = 0;
    while (const ssize_t got = ::recv(socket, text.data() + size, text.size() - size, 0)) {
        if (got < 0) break;
        size += static_cast<std::size_t>(got);
    }
    ::close(socket);
    text.resize(size);
    return text;
}

TEST(Server, AnEpochOverGrpcHoldsTheScriptsJoules) {
    const meter::tests::FakeTree folder;
    for (const std::string& listen : {std::string("127.0.0.1:0"), "unix:" + (folder.root() / "s").string()}) {
        const Running running(false, listen);
        const auto started = running.start();
        ASSERT_EQ(started.channels_size(), 3);
        EXPECT_EQ(started.channels(0).provenance(), "measured:powercap");
        running.script.package(1'000 + 1'500'000);
        running.script.dram(2'000 + 500'000);
        messages::Epoch epoch;
        ASSERT_TRUE(running.read(started.session(), epoch, true).ok());
        EXPECT_EQ(epoch.joules(), 2.0);
        EXPECT_EQ(epoch.label(), "epoch 7");
        EXPECT_TRUE(epoch.complete());
        EXPECT_GE(epoch.samples_size(), 6);  // both bounds of three channels
        EXPECT_EQ(epoch.samples(epoch.samples_size() - 1).channel(), 2U);
        EXPECT_GT(epoch.end_ns(), epoch.begin_ns());
        messages::StopReply stopped;
        ASSERT_TRUE(running.stop(started.session(), stopped).ok());
        EXPECT_EQ(stopped.whole().joules(), 2.0);
        EXPECT_EQ(running.read(started.session(), epoch).error_code(), grpc::StatusCode::NOT_FOUND);
    }
}

TEST(Server, StreamsSendSamplesUntilTheSessionStops) {
    const Running running;
    const auto started = running.start();
    WithToken context;
    messages::StreamRequest request;
    request.set_session(started.session());
    request.set_interval_ms(10);
    const auto stream = running.stub->Stream(&context, request);
    messages::Batch batch;
    std::int64_t last = 0;
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(stream->Read(&batch));
        ASSERT_GT(batch.samples_size(), 0);
        EXPECT_GT(batch.samples(0).time_ns(), last);
        last = batch.samples(batch.samples_size() - 1).time_ns();
    }
    messages::StopReply stopped;
    ASSERT_TRUE(running.stop(started.session(), stopped).ok());
    while (stream->Read(&batch)) {
    }
    EXPECT_TRUE(stream->Finish().ok());
}

TEST(Server, AKilledClientLeaksNothing) {
    const Running running(true);
    running.start();  // a session that must survive the others
    const std::size_t threads = entries("/proc/self/task"), files = entries("/proc/self/fd");
    const auto launch = [&] {
        int pipe[2];
        EXPECT_EQ(::pipe(pipe), 0);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
        posix_spawn_file_actions_addclose(&actions, pipe[0]);
        std::string program = VIRIDIAN_SERVE_CLIENT, address = running.server->grpc_address();
        std::string token = test_token;
        char* arguments[] = {program.data(), address.data(), token.data(), nullptr};
        pid_t child = 0;
        EXPECT_EQ(::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ), 0);
        posix_spawn_file_actions_destroy(&actions);
        ::close(pipe[1]);
        char line[64];
        EXPECT_GT(::read(pipe[0], line, sizeof(line)), 30);  // its streams run
        ::close(pipe[0]);
        return child;
    };
    std::vector<pid_t> clients;
    for (int i = 0; i < 4; ++i) clients.push_back(launch());
    EXPECT_EQ(running.server->monitor().sessions(), 5U);
    for (const pid_t client : clients) {
        ::kill(client, SIGKILL);
        ::waitpid(client, nullptr, 0);
    }
    until([&] {
        running.server->monitor().expire();
        return running.server->monitor().sessions() == 1;
    });
    EXPECT_EQ(running.server->monitor().snapshot().expired, 4U);
    EXPECT_EQ(running.server->monitor().snapshot().sampler.meters.size(),
              1U);  // nor is their process watched
    // gRPC keeps a few idle threads; those of the streams and the connections' files go.
    until([&] { return entries("/proc/self/task") <= threads + 4 && entries("/proc/self/fd") <= files + 2; });
    until([&] { return get_metrics(*running.server).find("viridian_sessions 1") != std::string::npos; });
}

TEST(Server, GarbageAndMalformedMessagesAreRefused) {
    const Running running;
    const int port = port_of(running.server->grpc_address());
    Random random(4);
    for (int i = 0; i < 60; ++i) {
        const int socket = connect_to(port);
        std::string bytes = i % 2 == 0 ? "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" : "";
        for (std::uint64_t n = random.below(300); n > 0; --n) bytes += static_cast<char>(random.below(256));
        ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        ::close(socket);
    }
    // Well-formed calls whose payload is not a message.
    grpc::GenericStub generic(running.channel);
    const auto call = [&](const std::string& method, const std::string& bytes) {
        WithToken context;
        grpc::CompletionQueue queue;
        const grpc::Slice slice(bytes);
        grpc::ByteBuffer request(&slice, 1), reply;
        auto one = generic.PrepareUnaryCall(&context, method, request, &queue);
        one->StartCall();
        grpc::Status status;
        one->Finish(&reply, &status, nullptr);
        void* tag = nullptr;
        bool ok = false;
        queue.Next(&tag, &ok);
        return status.error_code();
    };
    const std::string service = "/viridian.monitor.v1.Monitor/";
    for (int i = 0; i < 300; ++i) {
        std::string bytes;
        for (std::uint64_t n = random.below(80); n > 0; --n) bytes += static_cast<char>(random.below(256));
        const char* method = i % 3 == 0 ? "Start" : i % 3 == 1 ? "Read" : "Stop";
        call(service + method, bytes);
    }
    EXPECT_NE(call(service + "Start", "\xff\xff\xff"), grpc::StatusCode::OK);
    EXPECT_EQ(call(service + "Read", ""), grpc::StatusCode::NOT_FOUND);
    EXPECT_EQ(call(service + "Nothing", ""), grpc::StatusCode::UNIMPLEMENTED);
    EXPECT_EQ(call(service + "Read", std::string(1 << 20, 'x')), grpc::StatusCode::RESOURCE_EXHAUSTED);

    messages::StartRequest request;
    request.set_period_ms(-5);
    WithToken context;
    messages::StartReply reply;
    const grpc::Status refused = running.stub->Start(&context, request, &reply);
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_NE(refused.error_message().find("ask for"), std::string::npos);
    const auto started = running.start();
    messages::Epoch epoch;
    EXPECT_TRUE(running.read(started.session(), epoch).ok());
}

TEST(Server, PrometheusSeesJoulesMetersAndSessions) {
    const Running running(true);
    running.start();
    running.script.package(1'000 + 3'000'000);
    std::string text = get_metrics(*running.server);
    EXPECT_NE(text.find("viridian_energy_joules_total{device=\"cpu:0\",scope=\"package\","
                        "provenance=\"measured:powercap\"} 3\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("viridian_meter_up{meter=\"powercap\"} 1"), std::string::npos);
    EXPECT_NE(text.find("viridian_sessions 1"), std::string::npos);
    running.script.package_vanishes();
    text = get_metrics(*running.server);
    EXPECT_NE(text.find("viridian_meter_up{meter=\"powercap\"} 0"), std::string::npos);
}

TEST(Server, HealthIsToldWithoutATokenAndWithoutANumber) {
    const Running running(true);
    const auto get = [&](const std::string& page) { return get_metrics(*running.server, "", page); };
    EXPECT_TRUE(get("/healthz").starts_with("HTTP/1.1 200 "));
    EXPECT_TRUE(get("/readyz").starts_with("HTTP/1.1 200 "));
    EXPECT_TRUE(get("/").starts_with("HTTP/1.1 200 "));
    EXPECT_TRUE(get("/nothing").starts_with("HTTP/1.1 404 "));
    EXPECT_TRUE(get("/metrics").starts_with("HTTP/1.1 401 "));
    running.script.package_vanishes();
    get_metrics(*running.server);  // reads the meters
    const std::string text = get("/readyz");
    EXPECT_TRUE(text.starts_with("HTTP/1.1 503 ")) << text;
    EXPECT_NE(text.find("No meter answers."), std::string::npos);
    EXPECT_TRUE(get("/healthz").starts_with("HTTP/1.1 200 "));
}

TEST(Server, OverTcpNothingIsAnsweredWithoutTheToken) {
    const Running running(true);
    const auto started = running.start();
    const auto code = [&](const char* method, grpc::ClientContext& context) {
        messages::StartRequest start;
        messages::StartReply begun;
        messages::ReadRequest read;
        read.set_session(started.session());
        messages::Epoch epoch;
        messages::StopRequest stop;
        stop.set_session(started.session());
        messages::StopReply stopped;
        messages::StreamRequest stream;
        stream.set_session(started.session());
        messages::Batch batch;
        const std::string name = method;
        if (name == "Start") return running.stub->Start(&context, start, &begun).error_code();
        if (name == "Read") return running.stub->Read(&context, read, &epoch).error_code();
        if (name == "Stop") return running.stub->Stop(&context, stop, &stopped).error_code();
        const auto reader = running.stub->Stream(&context, stream);
        EXPECT_FALSE(reader->Read(&batch));
        return reader->Finish().error_code();
    };
    std::string almost = test_token;
    almost.back() = 'e';
    for (const char* method : {"Start", "Read", "Stop", "Stream"}) {
        grpc::ClientContext none;
        EXPECT_EQ(code(method, none), grpc::StatusCode::UNAUTHENTICATED) << method;
        for (const std::string& wrong : {almost, test_token + "0", test_token.substr(1), std::string()}) {
            WithToken context(wrong);
            EXPECT_EQ(code(method, context), grpc::StatusCode::UNAUTHENTICATED) << method << wrong;
        }
    }
    EXPECT_EQ(running.server->monitor().sessions(), 1U);  // nothing began and nothing ended
    messages::Epoch epoch;
    EXPECT_TRUE(running.read(started.session(), epoch).ok());

    for (const std::string& wrong : {std::string(), "Bearer " + almost, "Basic " + test_token, test_token}) {
        const std::string text = get_metrics(*running.server, wrong);
        EXPECT_TRUE(text.starts_with("HTTP/1.1 401 ")) << text;
        EXPECT_EQ(text.find("viridian_"), std::string::npos) << text;
    }
    EXPECT_NE(get_metrics(*running.server).find("viridian_sessions 1"), std::string::npos);
}

TEST(Server, OnASocketItsModeIsEnoughAndTcpWithoutATokenIsRefused) {
    const meter::tests::FakeTree folder;
    const std::string listen = "unix:" + (folder.root() / "s").string();
    const Running running(false, listen);
    grpc::ClientContext without;
    messages::StartReply reply;
    EXPECT_TRUE(running.stub->Start(&without, {}, &reply).ok());
    for (const ServerOptions& open :
         {ServerOptions{.listen = *parse_address("127.0.0.1:0")},
          ServerOptions{.listen = *parse_address(listen + "2"), .metrics = *parse_address("127.0.0.1:0")}}) {
        const auto refused = Server::open({}, open);
        ASSERT_FALSE(refused.ok());
        EXPECT_EQ(refused.error().text(),
                  "every user of this machine can connect to 127.0.0.1:0. add --token-file FILE, whose token "
                  "clients then send, or use a unix socket.");
    }
}

TEST(Server, EndsWhileClientsStream) {
    auto running = std::make_unique<Running>();
    const auto started = running->start();
    WithToken context;
    messages::StreamRequest request;
    request.set_session(started.session());
    request.set_interval_ms(60'000);
    const auto stream = running->stub->Stream(&context, request);
    stream->WaitForInitialMetadata();
    const auto begin = std::chrono::steady_clock::now();
    running->server.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
    messages::Batch batch;
    while (stream->Read(&batch)) {
    }
}

}  // namespace
}  // namespace viridian::serve
