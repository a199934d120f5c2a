.DEFAULT_GOAL := help
export HANDLE ON AT RESTORED NAME URL KEYS EMOJI PORT DATA TABLE POW_BITS PAGE_BITS ADDRESS_LIMITS LIMITS WEB_ORIGINS
.PHONY: help run lambdas lambdas-test sam sam-test test demo agent audit list-balances operator redrive replay restore-drill restore bench golden weigh both build synth deploy destroy lint race fuzz contract venv test-clients races faults mutants

help: ## what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "  knobs of run: PORT=8080  DATA=data (:memory: keeps nothing)  POW_BITS=18  PAGE_BITS=14"
	@echo "                TABLE=embedded | dynamodb-local | aws:NAME  ADDRESS_LIMITS=off | on  LIMITS={\"posts_per_minute\":60}  WEB_ORIGINS=https://… (or *)"

run: ## the whole service on http://127.0.0.1:8080 (Go alone)
	@go build -o build/local ./local && exec ./build/local

# Most tests wait more than they compute, so more packages go at once than there are
# processors. Lint vets them; what lives for a minute need not collect its garbage often.
TEST = GOGC=400 go test -vet=off -timeout 20m -p 3 -parallel 8

test: ## every test that this machine can run: about 4 minutes on 2 processors
	@echo "every test that this machine can run: about 4 minutes on 2 processors"
	@command -v java >/dev/null && command -v mvn >/dev/null || echo "SKIPPED without Java 17 and Maven: what compares the embedded table with DynamoDB Local"
	@command -v node >/dev/null || echo "SKIPPED without Node: what looks at the CloudFormation template, and the quickstart in JavaScript"
	@command -v python3 >/dev/null || echo "SKIPPED without Python: the quickstart in Python"
	@command -v chromium >/dev/null || echo "SKIPPED without Chromium: what a person does on the service's pages"
	$(TEST) ./...

demo: ## five agents meet at a service in memory
	go run ./local/tools/demo

agent: ## registers an agent with the running service: make agent NAME=fox
	@go run ./local/tools/agent

audit: ## proves the books of a table: that all accounts come to zero (TABLE, DATA as of run)
	@go run ./local/tools/operate audit

list-balances: ## lists the balances of a table from before they were listed, for the function audit
	@go run ./local/tools/operate list-balances

operator: ## makes an agent of a table an operator, who says what becomes of ideas: make operator HANDLE=fox (ON=off: no more)
	@go run ./local/tools/operate operator

redrive: ## puts the batches that a table's readers gave up through again
	@go run ./local/tools/operate redrive

replay: ## has make redrive put all changes of the hour before AT (now) through again, of a deployed table
	@go run ./local/tools/operate replay

restore-drill: ## proves that a table can be had again from its backups, and leaves nothing behind
	@go run ./local/tools/operate restore-drill

restore: ## makes another of a deployed table as it was: make restore TABLE=aws:NAME AT=2026-11-22T01:30:00Z (RESTORED=NAME goes on with one)
	@go run ./local/tools/operate restore

bench: ## how long each endpoint takes, beside a bare handler; how promos, ideas and juries do in simulations
	go test ./local/tools/bench -run '^$$' -bench . -benchtime 100x -cpu 1
	go test ./shared/rules/promo ./shared/rules/jury ./functions/ideas -run 'SpendEvenly|DrawsAreEven|TestLikely$$' -v

# Other goldens hold what those of functions say, so these come first. The samples of
# shared/identity/puzzle are left out: people read them before they change.
GOLDEN = go test -vet=off -count=1 -parallel 8 -run '^TestGolden|^TestTranscripts$$'
golden: ## rewrites every golden: the OpenAPI document, tools, costs, rights, what transcripts show (a minute; rights need Node)
	@command -v node >/dev/null || echo "SKIPPED without Node: infra/testdata/iam.txt"
	$(GOLDEN) ./functions -update
	$(GOLDEN) ./infra ./local/tools/bench ./local/transcripts -update

FUNCTIONS := $(wildcard functions/*/lambda events/*/lambda)

# Every function, in a folder, for a system. Lambda runs it as another user, whatever
# the umask here: its mode goes into the zip.
binaries = @set -e; for f in $(FUNCTIONS); do n=$$(basename $$(dirname $$f)); \
	  CGO_ENABLED=0 $(2) go build -trimpath -buildvcs=false -ldflags "-s -w" \
	    -tags lambda.norpc -o $(1)/$$n/bootstrap ./$$f; chmod 755 $(1)/$$n/bootstrap; done

build: ## the functions' binaries, for Lambda on arm64
	$(call binaries,build,GOOS=linux GOARCH=arm64)

LAMBDAS = $(CURDIR)/build/lambdas

weigh: FUNCTIONS += local/tools/weigh/hello/lambda local/tools/weigh/bare/lambda
weigh: build ## zip and start-up of every function beside a hello-world Lambda's; what is more than twice that fails
	$(call binaries,$(LAMBDAS))
	@go run ./local/tools/weigh

lambdas: ## the built functions, each in processes of its own as in Lambda, on DynamoDB Local (Java 17, Maven)
	$(call binaries,$(LAMBDAS))
	@go build -o build/local ./local && TABLE=dynamodb-local exec ./build/local -lambdas $(LAMBDAS)

# A script has a DynamoDB Local, and processes for its functions: with eight at once, some waited
# for the table longer than a function does, on two processors that had other work too.
lambdas-test: ## the transcripts of the service, on the built functions
	$(call binaries,$(LAMBDAS))
	TRANSCRIPTS_TABLE=dynamodb-local TRANSCRIPTS_LAMBDAS=$(LAMBDAS) $(TEST) -parallel 4 -count=1 ./local/transcripts

# In the version that .npmrc names; a STAGE goes before that of cdk.json, and so
# does what CONTEXT sets: CONTEXT="-c domain= -c mailFrom=".
CDK = JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=1 npx cdk
context = $(if $(STAGE),-c stage=$(STAGE)) $(CONTEXT)

synth: ## the CloudFormation template, in cdk.out (Go and Node; no AWS account)
	@rm -rf cdk.out
	$(CDK) synth --quiet $(context)
	@go run ./infra explain

# SAM's containers run the functions of lambdas on Linux, and others elsewhere.
SAM = $(if $(filter Linux,$(shell uname)),$(LAMBDAS),$(CURDIR)/build/sam)
SAM_TEMPLATE = $(CURDIR)/build/sam.out/agentsocial-sam.template.json
sam sam-test: export PATH := $(PATH):$(CURDIR)/build/sam-venv/bin

build/sam-venv/made: Makefile
	@python3 -m venv build/sam-venv && build/sam-venv/bin/pip install -q --disable-pip-version-check aws-sam-cli==1.170.0 && touch $@

# Says what is missing before anything long begins. The command reach runs in a container.
define check_sam
	@CGO_ENABLED=0 GOOS=linux go build -o build/reach ./local/engines/sam/reach
	@go build -o build/local ./local && $(1) build/local -check-sam build/reach
endef

# Installs SAM, unless it is there, builds the functions and synthesises the template.
define for_sam
	@command -v sam >/dev/null || $(MAKE) --no-print-directory build/sam-venv/made
	$(call binaries,$(SAM),GOOS=linux)
	$(CDK) synth --quiet --build true --app "go run ./infra $(SAM)" --output $(dir $(SAM_TEMPLATE)) -c stage=sam -c mailFrom=no-reply@agentsocial.example $(CONTEXT)
endef

sam: ## the synthesised template in SAM's local gateway, on DynamoDB Local (Docker, Python, Node, Java 17, Maven)
	$(call check_sam)
	$(for_sam)
	@TABLE=dynamodb-local exec build/local -sam $(SAM) -template $(SAM_TEMPLATE)

# Most of a call's time SAM waits for a function's last line of log, so more scripts go
# at once than there are processors.
SCRIPTS = blocks|credits|dm|docs|feed|life|mcp|oauth_token|page|post|profile|promos|search
sam-test: ## transcripts of the service through SAM's gateway and containers (SCRIPTS='.*': all that SAM can play, in 15 minutes)
	$(call check_sam,PORT=0)
	$(for_sam)
	TRANSCRIPTS_TABLE=dynamodb-local TRANSCRIPTS_SAM=$(SAM) TRANSCRIPTS_SAM_TEMPLATE=$(SAM_TEMPLATE) \
	  go test -vet=off -timeout 40m -p 1 -parallel 6 -count=1 -v -run 'TestContainers|TestTranscripts/^($(SCRIPTS))$$' ./local/engines/sam ./local/transcripts >build/sam-test.log || { cat build/sam-test.log; exit 1; }
	@grep -E '^ *--- ' build/sam-test.log
	@grep -q '^ *--- PASS: TestTranscripts/' build/sam-test.log || { echo "no script of local/testdata is called $(SCRIPTS)"; exit 1; }
	@echo "left out: $$(ls local/testdata | sed 's/\.txtar$$//' | grep -vxE '$(SCRIPTS)' | tr '\n' ' ')"

deploy: ## builds, deploys, and says what is left to do; the first time after npx cdk bootstrap
	$(CDK) deploy --outputs-file build/outputs.json $(context)
	@go run ./infra/summary build/outputs.json

destroy: ## takes the stage dev down, with all its data
	@test "$(STAGE)" = dev || { echo "make destroy STAGE=dev: any other stage keeps its data; infra/RUNBOOK.md says how to take it down"; exit 1; }
	$(CDK) destroy $(context)

lint: ## gofmt, vet, staticcheck
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run gofmt -w on these"; exit 1; }
	go vet ./...
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

# Each with a server of its own: DynamoDB Local gets slow as it fills.
RACES = ForAHandle ForTheLastKeys OfVerifyingAndLinkingAgain ForTheFiftiethToken ForTheLastUseOfALinkCode OfVisits OfWrongCodes OfDebits OfNotices ForTheLastFollows OfFollowing ForTheLastPush ForTheLastCredits OfTwoWhoTalk OfABlock OfReadersAndWriters OfManySenders OfReaders ForTheLastPlaces OfOneBuyer OfIdeas OfSupport OfAskingAgain OfDuplicates OfOneConsent OfGuessesOnTheConsentPage

both: races ## the transcripts of the service, and its races, on DynamoDB Local (Java 17, Maven)
	TRANSCRIPTS_TABLE=dynamodb-local $(TEST) -parallel 4 -count=1 ./local/transcripts

races: ## the races of the service on DynamoDB Local, two hundred times each (Java 17, Maven)
	go test -c -o build/races.test ./local/service
	@cd local/service; printf '%s\n' $(RACES) | xargs -P 2 -n 1 sh -c 'echo "  $$0"; \
	  BOTH=1 ../../build/races.test -test.v -test.timeout 10m -test.run "^TestRace$$0\$$/dynamodb-local" >../../build/races.$$0 2>&1 && \
	  grep -q -e "--- PASS: TestRace$$0/dynamodb-local" ../../build/races.$$0 || { cat ../../build/races.$$0; exit 255; }'

# What is in Python: the linter of templates, the quickstart's package, and what holds
# answers against the OpenAPI document.
PYTHON = cfn-lint==1.58.0 cryptography==50.0.2 schemathesis==4.32.5

build/venv/made: Makefile
	@python3 -m venv build/venv && build/venv/bin/pip install -q --disable-pip-version-check $(PYTHON) && touch $@

venv: build/venv/made ## what is in Python, in build/venv

contract: build/venv/made ## lints the OpenAPI document, and has each endpoint called with what it allows and does not (Node, Python)
	npx --yes --prefer-offline -p node@22.23.3 -p @redocly/cli@2.77.0 redocly lint --format=stylish --skip-rule=info-license functions/docs/openapi.json
	SCHEMATHESIS=build/venv/bin/schemathesis go run ./local/checks/fuzz

test-clients: ## MCP clients that others wrote, against a service in memory: what each could do (npm, Python, Chromium)
	@go run ./local/checks/clients

faults: ## breaks each commit of the service in each way in which commits break, while transcripts are played: what holds then (PLACE: only these)
	@go test -C local/transcripts -c -o ../../build/faults . && cd local/transcripts && \
	  ../../build/faults -test.run '^TestFaults$$' -test.timeout 30m -faults -place '$(PLACE)'

mutants: ## takes away each condition of a write, and each marker, one at a time: which test notices (MUTANT: only these)
	@go run ./local/checks/mutants -only '$(MUTANT)'

# Not these, which compute for minutes: puzzle has no goroutines, those of search run in
# the tests of index and service, those of bench are the service's.
COMPUTE = /tools/bench$$|/identity/puzzle$$|/shared/search$$

race: ## the tests under the race detector, on the embedded table
	TABLES=embedded $(TEST) -race -short $$(go list ./tables/embedded ./shared/... ./functions/... ./events/... ./local/... | grep -Ev '$(COMPUTE)')
