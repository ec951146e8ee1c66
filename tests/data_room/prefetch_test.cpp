#include "viridian/data/prefetch.hpp"

#include <atomic>
#include <semaphore>

#include "files.hpp"

namespace viridian::data {
namespace {

using tests::error_of;
using Number = std::optional<int>;

// Counts up to `last`, then ends.
Prefetch<int>::Make counter(int last) {
    return [next = 0, last]() mutable -> Result<Number> { return next < last ? Number(next++) : Number(); };
}

TEST(Prefetch, GivesAllValuesInOrderAndThenNothing) {
    for (const std::size_t depth : {0U, 1U, 3U, 100U}) {
        Prefetch<int> prefetch(counter(50), depth);
        for (int i = 0; i < 50; ++i) EXPECT_EQ(*prefetch.next(), Number(i));
        EXPECT_EQ(*prefetch.next(), Number());
        EXPECT_EQ(*prefetch.next(), Number());
    }
}

TEST(Prefetch, MakesNoMoreThanItsDepthAhead) {
    std::atomic<int> made = 0;
    std::counting_semaphore<> makes(0);
    Prefetch<int> prefetch(
        [&]() -> Result<Number> {
            const int number = made++;
            makes.release();
            return Number(number);
        },
        2);
    makes.acquire();
    makes.acquire();
    for (int i = 0; i < 20; ++i) {  // each value taken lets exactly one more be made
        EXPECT_EQ(made, 2 + i);
        EXPECT_EQ(*prefetch.next(), Number(i));
        makes.acquire();
    }
}

TEST(Prefetch, ErrorsComeAfterTheValuesBeforeThem) {
    Prefetch<int> prefetch(
        [next = 0]() mutable -> Result<Number> {
            if (next == 3) return fail(ErrorCode::malformed, "mend it", "value {} is damaged", next);
            return Number(next++);
        },
        8);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(*prefetch.next(), Number(i));
    for (int i = 0; i < 2; ++i) EXPECT_EQ(error_of(prefetch.next()), "value 3 is damaged; mend it");
}

TEST(Prefetch, ExceptionsComeOutWhereTheyAreSeen) {
    Prefetch<int> broken([]() -> Result<Number> { throw BrokenInvariant{"none"}; }, 2);
    EXPECT_THROW((void)broken.next(), BrokenInvariant);
    Prefetch<int> large([]() -> Result<Number> { throw std::bad_alloc(); }, 2);
    EXPECT_EQ(large.next().error().code, ErrorCode::out_of_memory);
}

TEST(Prefetch, DestructionAndCancellationDoNotHang) {
    {
        const Prefetch<int> unused(counter(1000), 2);
    }
    {
        Prefetch<int> begun(counter(1000), 2);
        EXPECT_EQ(*begun.next(), Number(0));
    }
    Prefetch<int> stopped(counter(1000), 2);
    stopped.cancel();
    EXPECT_EQ(stopped.next().error().code, ErrorCode::cancelled);
    std::binary_semaphore never_made(0);
    Prefetch<int> waiting(
        [&]() -> Result<Number> {
            never_made.acquire();
            return Number(1);
        },
        2);
    std::thread other([&] {
        waiting.cancel();  // `next` below waits for a value that does not come
        never_made.release();
    });
    EXPECT_EQ(waiting.next().error().code, ErrorCode::cancelled);
    other.join();
}

}  // namespace
}  // namespace viridian::data
