# Pages are looked at in headless Chromium; where it does not start, those tests are skipped.
target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests/support/browser/visit.cpp")
