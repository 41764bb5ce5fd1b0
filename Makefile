GO ?= go
BIN := bin/dbtester
LINT := $(GO) tool -modfile=internal/tools/lint/go.mod

.PHONY: build
build: ## build bin/dbtester: one file that runs on any Linux of this architecture
	CGO_ENABLED=0 $(GO) build -buildvcs=auto -trimpath -o $(BIN) ./cmd/dbtester

.PHONY: quickstart
quickstart: build ## three agents, a three-member etcd, load, table, charts, report
	$(BIN) control --local -c configs/quickstart.yaml

.PHONY: test
test: ## all tests that need nothing but Go
	$(GO) test ./...

.PHONY: databases
databases: ## install real ZooKeeper and Consul under databases/
	scripts/install-databases.sh

.PHONY: test-scripts
test-scripts: ## the installer, without a network
	bash scripts/install-databases_test.sh

.PHONY: test-databases
test-databases: databases ## the tests against all installed databases
	DBTESTER_DATABASES=$(CURDIR)/databases $(GO) test -count=1 -p 1 -timeout 20m ./database/...
	DBTESTER_DATABASES=$(CURDIR)/databases $(GO) test -count=1 -timeout 20m -run EveryStore ./cmd/dbtester

.PHONY: lint
lint: ## golangci-lint, and the protocol
	$(LINT) golangci-lint run ./...
	cd dbtesterpb && $(GO) tool -modfile=../internal/tools/generate/go.mod buf lint

.PHONY: format
format: ## gofumpt and import order
	$(LINT) golangci-lint fmt ./...

.PHONY: vulncheck
vulncheck: ## known vulnerabilities in what we call
	$(LINT) govulncheck ./...

.PHONY: generate
generate: ## code from dbtesterpb/agent.proto
	cd dbtesterpb && $(GO) tool -modfile=../internal/tools/generate/go.mod buf generate

.PHONY: bench
bench: ## the benchmarks of the load path, and the harness's ceiling
	$(GO) test -run '^$$' -bench . -benchmem ./load ./workload ./internal/hist ./internal/ceiling

.PHONY: bench-memory
bench-memory: ## the memory of the harness after 1, 10 and 100 million requests
	$(GO) run ./internal/ceiling

.PHONY: test-faults
test-faults: databases ## kill processes at random; with root also every fault at every moment, into docs/faults.md
	DBTESTER_FAULTS=10 $(GO) test -count=1 -v -timeout 20m -run TestKilledAtAnyMoment ./cmd/dbtester
	DBTESTER_FAULTS=1 DBTESTER_FAULTS_REPORT=$(CURDIR)/docs/faults.md DBTESTER_DATABASES=$(CURDIR)/databases \
		$(GO) test -count=1 -v -timeout 60m -parallel 4 -run TestFaultTable ./cmd/dbtester

.PHONY: lab
lab: databases ## as root: write-100K on four hosts that are network namespaces, into docs/four-hosts.md
	DBTESTER_HOSTS=$(CURDIR)/docs/four-hosts.md DBTESTER_DATABASES=$(CURDIR)/databases \
		$(GO) test -count=1 -v -timeout 20m -run TestFourHosts ./cmd/dbtester

.PHONY: bench-peers
bench-peers: ## our load path against etcd's own tool on one cluster, into docs/benchmarks.md (about 8 minutes)
	CGO_ENABLED=0 $(GO) run -pgo=cmd/dbtester/default.pgo ./internal/benchpeers

.PHONY: profile
profile: ## where the load path spends its time, for the compiler, into cmd/dbtester/default.pgo
	CGO_ENABLED=0 $(GO) run -trimpath ./internal/benchpeers profile

.PHONY: bench-agent
bench-agent: build ## what an agent costs beside 500 processes, as a table for docs/benchmarks.md (about 16 minutes)
	$(GO) run ./internal/benchagent

.PHONY: race
race: ## the tests under the race detector
	$(GO) test -race ./load/... ./workload/... ./control/... ./agent/... ./internal/...

.PHONY: help
help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18
