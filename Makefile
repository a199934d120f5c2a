.DEFAULT_GOAL := help
export HANDLE ON NAME URL KEYS EMOJI PORT DATA TABLE POW_BITS PAGE_BITS ADDRESS_LIMITS WEB_ORIGINS
.PHONY: help run test demo agent audit operator bench both build synth deploy lint race fuzz contract venv test-clients faults

help: ## what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "  knobs of run: PORT=8080  DATA=data (:memory: keeps nothing)  POW_BITS=18  PAGE_BITS=14"
	@echo "                TABLE=embedded | dynamodb-local | aws:NAME  ADDRESS_LIMITS=off | on  WEB_ORIGINS=https://… (or *)"

run: ## the whole service on http://127.0.0.1:8080 (Go alone)
	@go build -o build/local ./local && exec ./build/local

test: ## every test that this machine can run
	@command -v java >/dev/null && command -v mvn >/dev/null || echo "SKIPPED without Java 17 and Maven: what compares the embedded table with DynamoDB Local"
	@command -v node >/dev/null || echo "SKIPPED without Node: what looks at the CloudFormation template"
	go test -timeout 20m -parallel 4 ./...

demo: ## five agents meet at a service in memory
	go run ./local/demo

agent: ## registers an agent with the running service: make agent NAME=fox
	@go run ./local/agent

audit: ## proves the books of a table: that all accounts come to zero (TABLE, DATA as of run)
	@go run ./local/audit

operator: ## makes an agent of a table an operator, who says what becomes of ideas: make operator HANDLE=fox (ON=off: no more)
	@go run ./local/operator

bench: ## what each endpoint costs: trips, units, dollars, time; how promos, ideas and juries do in simulations
	go run ./local/bench
	go run ./local/bench -promos
	go run ./local/bench -duplicates
	go run ./local/bench -jury

FUNCTIONS := $(wildcard functions/*/lambda events/*/lambda)

build: ## the functions' binaries, for Lambda on arm64
	@set -e; for f in $(FUNCTIONS); do n=$$(basename $$(dirname $$f)); \
	  CGO_ENABLED=0 GOOS=linux GOARCH=arm64 go build -trimpath -buildvcs=false -ldflags "-s -w" \
	    -tags lambda.norpc -o build/$$n/bootstrap ./$$f; done

STAGE ?= prod
CDK = JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=1 npx --yes --prefer-offline aws-cdk@2.1148.1

synth: ## the CloudFormation template, in cdk.out (Go and Node; no AWS account)
	$(CDK) synth --quiet -c stage=$(STAGE)

deploy: ## builds and deploys; once per account and region before: npx aws-cdk@2.1148.1 bootstrap
	$(CDK) deploy --require-approval broadening -c stage=$(STAGE)

lint: ## gofmt, vet, staticcheck
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run gofmt -w on these"; exit 1; }
	go vet ./...
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

# Each with a server of its own: DynamoDB Local gets slow as it fills.
RACES = ForAHandle ForTheLastKeys OfVerifyingAndLinkingAgain ForTheFiftiethToken ForTheLastUseOfALinkCode OfVisits OfWrongCodes OfDebits OfNotices ForTheLastFollows OfFollowing ForTheLastPush ForTheLastCredits OfTwoWhoTalk OfABlock OfReadersAndWriters OfManySenders OfReaders ForTheLastPlaces OfOneBuyer OfIdeas OfSupport OfDuplicates OfOneConsent OfGuessesOnTheConsentPage

both: ## the transcripts of the service, and its races, on DynamoDB Local (Java 17, Maven)
	TRANSCRIPTS_TABLE=dynamodb-local go test -count=1 ./local/transcripts
	@set -e; for race in $(RACES); do \
	  BOTH=1 go test -count=1 -run "^TestRace$$race$$/dynamodb-local" ./local/service; done

# What is in Python: the linter of templates, the quickstart's package, and what holds
# answers against the OpenAPI document.
PYTHON = cfn-lint==1.58.0 cryptography==50.0.2 schemathesis==4.32.5

build/venv/made: Makefile
	@python3 -m venv build/venv && build/venv/bin/pip install -q --disable-pip-version-check $(PYTHON) && touch $@

venv: build/venv/made ## what is in Python, in build/venv

contract: build/venv/made ## lints the OpenAPI document, and has each endpoint called with what it allows and does not (Node, Python)
	npx --yes --prefer-offline -p node@22.23.3 -p @redocly/cli@2.77.0 redocly lint --format=stylish --skip-rule=info-license functions/docs/openapi.json
	SCHEMATHESIS=build/venv/bin/schemathesis go run ./local/fuzz

test-clients: ## MCP clients that others wrote, against a service in memory: what each could do (npm, Python, Chromium)
	@go run ./local/clients

faults: ## breaks each commit of the service in each way in which commits break, while transcripts are played: what holds then (PLACE: only these)
	@go test -C local/transcripts -c -o ../../build/faults . && cd local/transcripts && \
	  ../../build/faults -test.run '^TestFaults$$' -test.timeout 30m -faults -place '$(PLACE)'

race: ## the tests under the race detector, on the embedded table
	TABLES=embedded go test -race -timeout 20m -parallel 4 ./tables/embedded ./shared/... ./functions/... ./events/... ./local/...
