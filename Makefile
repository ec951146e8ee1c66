# Viridian's commands. `make` alone lists them. Everything is idempotent and quiet when there is nothing to do.
.DEFAULT_GOAL := help
SHELL := /bin/bash
JOBS ?= $(shell nproc)

help: ## list the commands
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-18s %s\n", $$1, $$2}'

build: ## install what is missing, build build/release/bin/viridian
	@tools/install_packages build python
	@tools/build --program-only release viridian

demo: ## install what is missing, build, optimise a real network on this CPU: build/demo/report.html
	@tools/install_packages build
	@tools/build --program-only release viridian
	@tools/demo

test: ## install what is missing, build, run every test and check
	@tools/install_packages build test
	@tools/peers || true
	@tools/python/environment || true
	@tools/test

bundle: ## the relocatable archive, build/bundle/viridian-VERSION-linux-x86_64.tar.gz (docs/bundle.md)
	@tools/install_packages build
	@tools/build --program-only release viridian
	@tools/bundle

wheel: ## the Python package as a wheel for other Linux systems, build/packages/*.whl (docs/packages.md)
	@tools/install_packages build packages
	@tools/build --program-only release viridian_static
	@tools/packaging/wheel

debs: ## Debian packages of the program, the library, its headers and the Python package, build/packages/*.deb
	@tools/install_packages build packages
	@tools/build --program-only release viridian viridian_shared viridian_static
	@tools/packaging/debs

packages-test: ## wheel, Debian packages and archive, built and tried in new Debian roots (root; compiles everything)
	@tools/install_packages packages
	@tests/packages/run

conformance: ## ONNX's own backend tests: Debian's set, and the newest one where the peers are installed
	@tools/install_packages build test
	@tools/peers || true
	@tools/build release conformance
	@tools/conformance

peers: ## .venv with the runtimes we compare with, pinned, from PyPI
	@tools/install_packages build test
	@tools/peers

examples-peers: ## the Python examples with the Trainer and Lightning that TORCH=python has
	@tools/install_packages build test
	@tools/python/environment
	@tools/build release viridian viridian_static
	@tests/python/install $(CURDIR)/build/release
	@tests/python/run_examples_peers $(or $(TORCH),.venv/bin/python) build/release/bin/viridian

bench-peers: ## the same models in ONNX Runtime, OpenVINO and PyTorch (TORCH=python that has it), in one run; table: OUTPUT=FILE.md
	@tools/install_packages build test
	@tools/peers
	@tools/build release viridian
	@.venv/bin/python benchmarks/peers/compare.py --viridian build/release/bin/viridian --work build/peers --again $(if $(TORCH),--torch $(TORCH)) --output $(or $(OUTPUT),build/peers/peers.md)

bench-disturbed: ## ours, ONNX Runtime and OpenVINO beside 0, 1 and 2 spinning processes, at nice 0 and 19; table: OUTPUT=FILE.md
	@tools/install_packages build test
	@tools/peers
	@tools/build release viridian
	@.venv/bin/python benchmarks/peers/disturbed.py --viridian build/release/bin/viridian --work build/disturbed --again --output $(or $(OUTPUT),build/disturbed/disturbed.md)

bench-training: ## time and memory of training steps beside PyTorch 2 (TORCH=python that has it); table: OUTPUT=FILE.md
	@tools/install_packages build test
	@tools/peers
	@tools/build release viridian
	@.venv/bin/python benchmarks/training/speed.py --viridian build/release/bin/viridian --torch $(or $(TORCH),.venv/bin/python) --work build/training --page $(or $(OUTPUT),build/training/speed.md)

bench-exports: ## networks as PyTorch exports them (TORCH=python to export with), optimised, against ONNX Runtime
	@tools/install_packages build test
	@tools/peers
	@tools/build release viridian
	@.venv/bin/python benchmarks/peers/exports.py --viridian build/release/bin/viridian --work build/exports --torch $(or $(TORCH),/usr/bin/python3)

bench-prediction: ## how well the cost database predicts whole runs
	@tools/install_packages build test
	@tools/build release viridian prediction
	@tools/bench_prediction

bench-ready: ## how long until a model can run: from its plan, and planned anew from a warm database
	@tools/install_packages build
	@tools/build --program-only release viridian
	@tools/bench_ready

bench-bf16: ## batch 1 and 8 in bf16 against the peers, and against the roofline, on a processor that has it; tables: build/bf16
	@tools/install_packages build test
	@tools/peers
	@tools/build release viridian chain
	@tools/bench_bf16

bench-chain: ## where the time of a run goes: events, the database's entries, the roofline
	@tools/install_packages build test
	@tools/build release viridian chain
	@tools/bench_chain

check: ## static gates: format, layers, sizes, clang-tidy on changed files
	@tools/install_packages build test
	@tools/check

format: ## rewrite the sources in the project's format
	@tools/install_packages test
	@git ls-files -co --exclude-standard '*.hpp' '*.cpp' | xargs -r clang-format-19 -i

reproduce-envpipe: build ## ENVPIPE's figures, Table 2 and twelve claims, by simulation
	@benchmarks/pipeline/reproduce_envpipe.py build/release/bin/viridian

reproduce-eago: ## EAGO's five tables on this machine; RECORDED=1: on recorded prices, without timing anything
	@tools/install_packages build test
	@tools/build release eago
	@tools/reproduce_eago $(if $(RECORDED),--recorded)

reproduce-smaragdine: ## SMARAGDINE's Figures 1 to 10: BERT and ALBERT training steps, recorded and accounted
	@tools/install_packages build test
	@tools/build release viridian
	@python3 benchmarks/smaragdine/reproduce.py build/release/bin/viridian

reproduce-substation: ## SUBSTATION's tables and figures on this machine; page: PAGE=FILE.md
	@tools/install_packages build test
	@tools/build release viridian
	@python3 benchmarks/substation/reproduce.py build/release/bin/viridian $(if $(PAGE),--page $(PAGE))

clean: ## remove everything built
	@rm -rf build

.PHONY: bench-training bundle wheel debs packages-test reproduce-envpipe reproduce-eago reproduce-smaragdine reproduce-substation help build demo examples-peers bench-peers bench-disturbed bench-exports bench-prediction bench-ready bench-bf16 bench-chain test conformance peers check format clean
