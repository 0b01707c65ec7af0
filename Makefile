# make demo   a push on your terminal, end to end      make test    everything that is tested
# make cluster  three brokers and three gateways here, one of each killed under load
# make build  a release build of pushcli                make check   formatting, generated tables
# make bench  every figure of docs/internals/performance.md, with the peers in the same run
# make deb, tarball, image  what is installed: docs/operate/install.md    make check-packages  the same in a bare Debian (root)
# make wheel  the Python package for tests of senders, clients/python, with the program inside
# make pictures  the pictures of README and docs, drawn anew
# make guard  what a push costs and how long it waits, against bench/guard.json    make check-guard  whether the guard finds faults
# make simulate  random worlds with faults, from seeds
# make simulate-scale  ten gateways and a million devices of a model, what they cost, and where the first limit is
# make kills     kill -9 by the hundred, under load      make drains   SIGTERM by the hundred, under client libraries
# make cluster-kills  kill -9 of gateways, brokers and devices of a cell
# make cluster-checks the checks of the provider API and of devices against a cell behind a balancer
# make faults   disks, networks and processes that fail (root)
# make soak     what takes too long for each commit: kills, drains, cluster-kills, faults, a soak, the interop suite in full length
# make fuzz      inputs that nobody thought of           make sanitize  every test under AddressSanitizer and ThreadSanitizer
# make train-ads  the model of the advertising detector, from the data folder: ADS_DATA=…

# What was built for others goes here.
PACKAGES = .build/packages

.PHONY: deb tarball image wheel check-packages
deb: build
	@scripts/install-packages dpkg-dev binutils
	packaging/deb/build .build/release/pushcli .build/checkouts $(PACKAGES)

tarball: build
	@scripts/install-packages binutils
	packaging/build-tarball .build/release/pushcli .build/checkouts $(PACKAGES)

image: deb
	@scripts/install-packages buildah debootstrap
	packaging/image $(PACKAGES)/pushgateway_$(VERSION)_$(shell dpkg --print-architecture).deb $(PACKAGES)

# The package of clients/python for PyPI, with the program inside.
wheel: build
	@mkdir -p $(PACKAGES)
	packaging/notices .build/checkouts >$(PACKAGES)/NOTICE
	scripts/wheel .build/release/pushcli $(PACKAGES)/NOTICE $(PACKAGES)

# Installs, uses, upgrades and removes what is built, in roots of debootstrap. OLD=… is an older package to upgrade from,
# IMAGE=… the image-root.tar of `make image`.
check-packages: deb tarball
	@scripts/install-packages debootstrap lintian util-linux python3 systemd-container
	packaging/check $(PACKAGES)/pushgateway_$(VERSION)_$(shell dpkg --print-architecture).deb \
	  $(PACKAGES)/pushgateway-$(VERSION)-linux-$(shell uname -m).tar.gz $(if $(OLD),--old $(OLD)) $(if $(IMAGE),--image $(IMAGE))
	packaging/check-boot $(PACKAGES)/pushgateway_$(VERSION)_$(shell dpkg --print-architecture).deb

.PHONY: demo cluster test build-tests run-tests build check format packages test-packages debug clean simulate simulate-scale bench-policy fuzz sanitize bench bench-packages guard check-guard kills cluster-kills cluster-checks drains faults soak \
  pictures train-ads check-ads evaluate-ads measure-ads bench-ads train-ads-program

packages:
	@scripts/install-packages libnghttp2-dev libssl-dev libsqlite3-dev libsimdjson-dev libqrencode-dev libnats-dev pkg-config

test-packages: packages
	@scripts/install-packages nghttp2-client curl tmux python3-venv binutils unicode-data zsh fish prometheus faketime junit5 \
	  libcurl4 nodejs
	@scripts/install-packages chromium || echo "Chromium can't be had: the tests of the page in a browser are skipped."

bench-packages: packages
	@scripts/install-packages nghttp2-client nghttp2-server openssl nginx libnginx-mod-nchan mosquitto gcc util-linux python3 \
	  redis-server rabbitmq-server postgresql beanstalkd
	@scripts/nats-server >/dev/null

debug: packages
	@scripts/build --product pushcli

# The Swift runtime is linked into what is released: it starts in a third of the time, in less memory than the runtime's own files.
VERSION = $(shell scripts/version)
# Debug builds and the tests check exclusive access at run time. Of accepting one push at a time, the checks of SwiftNIO alone cost
# 5 % of the instructions.
RELEASE = PUSHGATEWAY_VERSION=$(VERSION) scripts/build -c release --static-swift-stdlib -Xswiftc -enforce-exclusivity=unchecked

build: packages
	$(RELEASE) --product pushcli
	@scripts/check-async .build/release/pushcli
	@echo "built .build/release/pushcli"

demo:
	@[ -x .build/debug/pushcli ] || echo "Building pushcli: the first time about five minutes on two cores."
	@$(MAKE) --no-print-directory debug
	@scripts/demo .build/debug/pushcli

cluster: debug
	@scripts/install-packages python3 python3-pip
	@scripts/cluster .build/debug/pushcli

check:
	@scripts/sounds --check
	@scripts/width-table --check
	@scripts/check-output
	@scripts/check-tests --self-test
	@scripts/check-tests
	@bench/report --check
	@scripts/check-prose
	@bench/guard-self-test --apply
	swift format lint --strict --recursive Package.swift Sources Tools Tests clients

format:
	swift format format --in-place --recursive Package.swift Sources Tools Tests clients

test: build-tests check run-tests

build-tests: test-packages
	@echo "Building pushcli and the tests: the first time about eight minutes on two cores."
	@scripts/build --build-tests

# What is built, tested: scripts/repeat-tests runs this again and again.
run-tests:
	NATS_SERVER=$$(scripts/nats-server) scripts/swift-tests
	NATS_SERVER=$$(scripts/nats-server) Tests/Interop/run .build/debug/pushcli

bench: bench-packages build
	@bench/all

GUARD_PACKAGES = valgrind binutils strace nghttp2-client nghttp2-server openssl util-linux python3
guard: build
	@scripts/install-packages $(GUARD_PACKAGES)
	@scripts/check-frames
	@bench/guard

# Builds the program again with each fault of bench/planted, which the guard has to find.
check-guard: build
	@scripts/install-packages $(GUARD_PACKAGES)
	@bench/guard-self-test

clean:
	rm -rf .build

# Thousands of random worlds with faults: make simulate SEEDS=100000, or SEED=7 for the steps of one.
SEEDS ?= 20000
simulate: packages
	scripts/build --build-tests
	SWIFT_TESTS_SILENCE=86400 PUSHGATEWAY_SEEDS=$(SEEDS) $(if $(SEED),PUSHGATEWAY_SEED=$(SEED)) scripts/swift-tests --filter "DeliverySimulation|CellSimulation|PowerLoss"

# What a cell costs that is larger than any machine here (docs/internals/cluster.md): GATEWAYS=3 DEVICES=30000 PUSHES=10000 for another.
GATEWAYS ?= 10
DEVICES ?= 1000000
PUSHES ?= 100000
simulate-scale: packages
	PUSHGATEWAY_SCALE=1 scripts/build --scratch-path .build-scale --product cell-scale -Xswiftc -O
	.build-scale/debug/cell-scale $(GATEWAYS) $(DEVICES) $(PUSHES)

# What a decision of the policy costs, in time and allocations.
bench-policy: packages
	$(RELEASE) --product policy-bench
	.build/release/policy-bench

# What takes bytes from outside, with libFuzzer (docs/internals/fuzzing.md): make fuzz SECONDS=600, or TARGET=requests for one.
SECONDS ?= 60
fuzz: packages
	scripts/fuzz $(SECONDS) $(TARGET)

# The whole suite under AddressSanitizer and ThreadSanitizer: make sanitize, or SANITIZER=thread for one.
sanitize: test-packages
	scripts/sanitize $(SANITIZER)

# The pictures in docs/pictures, by what draws the screen. Look at what has changed, in a browser.
pictures: packages
	scripts/build --build-tests
	PUSHGATEWAY_PICTURES=write scripts/swift-tests --filter PictureTests

# Kills gateway and clients under load, and counts every 200: make kills KILLS=500 SEED=7
KILLS ?= 500
kills: test-packages debug
	Tests/Interop/run .build/debug/pushcli --program kills.py --kills $(KILLS) $(if $(SEED),--seed $(SEED))

# What is checked of a gateway that is alone, against two of a cell behind a TCP balancer. Where a test is of one machine
# (its disk, its certificate, its limits) it is skipped, and says so.
CELL_CHECKS = libraries protocol rfc9113 reasons tokens wire certificates devices preferences policy broadcast people sharing \
  scheduled ask limits rates join owners scenarios
cluster-checks: test-packages debug
	INTEROP_CELL=1 NATS_SERVER="$$(scripts/nats-server)" Tests/Interop/run .build/debug/pushcli -q -n 2 --dist loadfile \
	  $(CELL_CHECKS:%=test_%.py)

# Kills gateways, brokers and devices of a cell under load: make cluster-kills KILLS=100 SEED=7
cluster-kills: KILLS = 100
cluster-kills: test-packages debug
	NATS_SERVER=$$(scripts/nats-server) Tests/Interop/run .build/debug/pushcli --program cluster_kills.py \
	  --kills $(KILLS) $(if $(SEED),--seed $(SEED))

# Drains a gateway under client libraries, and counts every request: make drains DRAINS=100 SEED=7
DRAINS ?= 100
drains: test-packages debug
	Tests/Interop/run .build/debug/pushcli --program drains.py --drains $(DRAINS) $(if $(SEED),--seed $(SEED))

# Real disks, networks and processes that fail: make faults, or FAULTS=faults/test_network.py for a part. Needs root.
FAULTS ?= faults
faults: test-packages debug
	@scripts/install-packages iproute2 strace
	Tests/Interop/run .build/debug/pushcli $(FAULTS) -s

# Hours for a machine of its own. The interop suite has the same loops in a short form; INTEROP_SOAK=1 gives them their full length.
soak: simulate kills drains cluster-kills faults
	Tests/Interop/run .build/debug/pushcli --program soak.py
	INTEROP_SOAK=1 NATS_SERVER=$$(scripts/nats-server) Tests/Interop/run .build/debug/pushcli -n 2 --dist loadfile

# The model of the advertising detector, byte for byte the one that is embedded: docs/internals/advertising-detector.md.
ADS_DATA ?= ../shared/data/ads
ADS_MODEL = Sources/CAdModel/ad-model.bin
TRAIN_ADS = .build/release/train-ads

train-ads-program: packages
	$(RELEASE) --product train-ads

train-ads: train-ads-program
	$(TRAIN_ADS) train $(ADS_DATA) Tools/train-ads/Texts $(ADS_MODEL)
	@touch Sources/CAdModel/CAdModel.c

# Whether the embedded model is what the data folder and the own texts give.
check-ads: train-ads-program
	@if [ ! -f $(ADS_DATA)/train.tsv ]; then echo "check-ads: skipped, no data in $(ADS_DATA) (set ADS_DATA)"; else \
	  $(TRAIN_ADS) train $(ADS_DATA) Tools/train-ads/Texts .build/ad-model.bin > .build/train-ads.log \
	    && cmp .build/ad-model.bin $(ADS_MODEL) && echo "check-ads: the embedded model is reproduced"; fi

# The tables of docs/internals/advertising-detector.md.
evaluate-ads: train-ads-program
	$(TRAIN_ADS) evaluate $(ADS_DATA) Tools/train-ads/Texts

# The recall on texts of unknown origin, with one threshold for all, and the bound of the score of the characters.
measure-ads: train-ads-program
	$(TRAIN_ADS) measure $(ADS_DATA) Tools/train-ads/Texts

# Verdicts a second on one core.
bench-ads: train-ads-program
	$(TRAIN_ADS) bench $(ADS_DATA)
