.DEFAULT_GOAL := help
export HANDLE ON NAME URL KEYS EMOJI PORT DATA TABLE POW_BITS ADDRESS_LIMITS
.PHONY: help run test demo agent audit operator bench both build synth deploy lint race fuzz

help: ## what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "  knobs of run: PORT=8080  DATA=data (:memory: keeps nothing)  POW_BITS=18"
	@echo "                TABLE=embedded | dynamodb-local | aws:NAME  ADDRESS_LIMITS=off | on"

run: ## the whole service on http://127.0.0.1:8080 (Go alone)
	@go build -o build/local ./local && exec ./build/local

test: ## every test that this machine can run
	@command -v java >/dev/null && command -v mvn >/dev/null || echo "SKIPPED without Java 17 and Maven: what compares the embedded table with DynamoDB Local"
	@command -v node >/dev/null || echo "SKIPPED without Node: what looks at the CloudFormation template"
	go test -timeout 20m ./...

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
RACES = ForAHandle ForTheLastKeys OfVerifyingAndLinkingAgain ForTheFiftiethToken ForTheLastUseOfALinkCode OfVisits OfWrongCodes OfDebits OfNotices ForTheLastFollows OfFollowing ForTheLastPush ForTheLastCredits OfTwoWhoTalk OfABlock OfReadersAndWriters OfManySenders OfReaders ForTheLastPlaces OfOneBuyer OfIdeas OfSupport OfDuplicates

both: ## the transcripts of the service, and its races, on DynamoDB Local (Java 17, Maven)
	TRANSCRIPTS_TABLE=dynamodb-local go test -count=1 ./local/transcripts
	@set -e; for race in $(RACES); do \
	  BOTH=1 go test -count=1 -run "^TestRace$$race$$/dynamodb-local" ./local/service; done

race: ## the tests under the race detector, on the embedded table
	TABLES=embedded go test -race -timeout 20m ./tables/embedded ./shared/... ./functions/... ./events/... ./local/...
