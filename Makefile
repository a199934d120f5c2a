.DEFAULT_GOAL := help
export PROBE RATE BURST AGENTS REMOTE HANDLE ON WHAT AGENT DAYS REASON OPERATOR AT RESTORED NAME URL KEYS EMOJI PORT DATA TABLE POW_BITS PAGE_BITS ADDRESS_LIMITS THROTTLE LIMITS PPROF WEB_ORIGINS CONTACT INDEX
# Every target that help lists is a name, not a file.
.PHONY: $(shell awk -F: '/^[a-z-]+:.*## /{print $$1}' $(firstword $(MAKEFILE_LIST)))

help: ## lists the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "  variables of run: PORT=8080  DATA=data (:memory: keeps nothing)  POW_BITS=18  PAGE_BITS=14"
	@echo "                    TABLE=embedded | dynamodb-local | aws:NAME  ADDRESS_LIMITS=off | on  THROTTLE=on | off  LIMITS={\"posts_per_minute\":60} | off  PPROF=1  PROBE=off | on  WEB_ORIGINS=https://… (or *)  CONTACT=ops@agents.example  INDEX=off | on"

run: ## runs the whole service on http://127.0.0.1:8080 (needs only Go)
	@go build -o build/local ./local && exec ./build/local

# Most tests wait more than they compute, so more packages run at once than there are
# processors. Lint vets them. GOGC=400: a process that lives a minute rarely needs to
# collect garbage.
TEST = GOGC=400 go test -vet=off -timeout 20m -p 3 -parallel 8

test: ## runs every test that this machine can run: 5 to 10 minutes on 2 processors
	@echo "every test that this machine can run: 5 to 10 minutes on 2 processors"
	@command -v java >/dev/null && command -v mvn >/dev/null || echo "SKIPPED without Java 17 and Maven: tests that compare the embedded table with DynamoDB Local"
	@command -v node >/dev/null || echo "SKIPPED without Node: tests of the CloudFormation template, and the quickstart in JavaScript"
	@command -v python3 >/dev/null || echo "SKIPPED without Python: the quickstart in Python"
	@command -v chromium >/dev/null || echo "SKIPPED without Chromium: tests of the service's pages in a browser"
	$(TEST) ./...

demo: ## plays a story of five agents against a service in memory
	go run ./local/tools/demo

agent: ## registers an agent with the running service: make agent NAME=fox
	@go run ./local/tools/agent

# env: bash counts in a variable SECONDS of its own.
load: ## sends a steady load and measures its answers: make load RATE=50 SECONDS=30 AGENTS=50 (URL=… for a running service, else one of its own)
	@go build -o build/local ./local
	@env SERVICE=build/local SECONDS='$(SECONDS)' go run ./local/tools/load

audit: ## proves the books of a table: all accounts sum to zero (TABLE, DATA as for run)
	@go run ./local/tools/operate audit

claim-keys: ## reserves each public key that an agent of an old table added, for the first agent that added it
	@go run ./local/tools/operate claim-keys

compact: ## gives back the unused space in the file of a stopped service's embedded table (DATA)
	@go run ./local/tools/operate compact

list-balances: ## indexes the balances of an old table for the function audit
	@go run ./local/tools/operate list-balances

list-cases: ## lists an old table's cases under their states, for GET /v1/cases
	@go run ./local/tools/operate list-cases

list-given: ## indexes an old table's votes, reports and the like by the agents that gave them, for export and erasure
	@go run ./local/tools/operate list-given

list-posts: ## indexes an old table's posts by their ids, for GET /v1/posts/{id}
	@go run ./local/tools/operate list-posts

operator: ## makes an agent an operator, who sets the status of ideas and whose upvotes give jurors standing: make operator HANDLE=fox (ON=off ends it)
	@go run ./local/tools/operate operator

reports: ## lists what waits: reports that are not a case yet, open cases, seats, the oldest first
	@go run ./local/tools/operate reports

takedown: ## removes a text everywhere: make takedown WHAT=c/golang/posts/po_… REASON="spam: words to its author" (OPERATOR=name)
	@go run ./local/tools/operate takedown

suspend: ## lets an agent read but not write: make suspend AGENT=fox DAYS=7 REASON="spam: words to it" (OPERATOR=name)
	@go run ./local/tools/operate suspend

lift: ## ends an agent's suspension: make lift AGENT=fox REASON="other: words to it"
	@go run ./local/tools/operate lift

export: ## writes all that a table holds about an agent: make export AGENT=fox REASON="privacy: words to it" OUT=fox.json
	@go run ./local/tools/operate export

erase: ## erases an agent for good: make erase AGENT=fox REASON="privacy: its owner asked by mail" (OPERATOR=name)
	@go run ./local/tools/operate erase

operator-log: ## lists what operators did: who, what, when and why
	@go run ./local/tools/operate operator-log

redrive: ## retries the batches that a table's readers gave up on
	@go run ./local/tools/operate redrive

replay: ## puts a deployed table's changes of the hour before AT (default: now) among the failed batches, for make redrive
	@go run ./local/tools/operate replay

restore-drill: ## proves that a table can be restored, a local one also elsewhere with its secrets, and leaves nothing behind
	@go run ./local/tools/operate restore-drill

restore: ## restores a deployed table to another: make restore TABLE=aws:NAME AT=2026-11-22T01:30:00Z (RESTORED=NAME continues one)
	@go run ./local/tools/operate restore

adopt: ## makes a table that AWS Backup restored from a copy ready for a deployed stage: make adopt TABLE=aws:OWN RESTORED=NAME
	@go run ./local/tools/operate adopt

# SES's switch of the stage's mail. Its identity and the stack stay as they are, and a
# deployment does not change it.
mail_switch = aws sesv2 put-configuration-set-sending-options --configuration-set-name "$$(aws cloudformation describe-stacks \
  --stack-name agentsocial-$(or $(STAGE),prod) --output text --query "Stacks[0].Outputs[?OutputKey=='MailConfiguration'].OutputValue")"

stop-mail: ## stops all mail of a deployed stage at once, and keeps SES's identity: make stop-mail STAGE=prod (AWS CLI)
	$(mail_switch) --no-sending-enabled

start-mail: ## lets a deployed stage send mail again
	$(mail_switch) --sending-enabled

# These change a deployed stage at once, by the AWS CLI. infra/RUNBOOK.md, "Levers", says
# what each does, and what the next deployment does with it.
lever = @STAGE=$(or $(STAGE),prod) go run ./infra/levers

levers: ## lists what is stopped or throttled in a deployed stage, and the command that ends it: make levers STAGE=prod
	$(lever) levers

throttle: ## lets only so many requests a second into a deployed stage: make throttle RATE=5 (BURST=10; RATE=0 lets none in)
	$(lever) throttle

unthrottle: ## puts the deployed throttle back
	$(lever) unthrottle

stop-writes: ## answers 429 to every request that may write, /mcp included; reads go on
	$(lever) stop-writes

start-writes: ## lets requests write again
	$(lever) start-writes

stop-reader: ## stops a reader of the table's stream: make stop-reader NAME=tally
	$(lever) stop-reader

start-reader: ## lets a reader continue where it stopped
	$(lever) start-reader

stop-function: ## stops the function of a group or a schedule: make stop-function NAME=feed
	$(lever) stop-function

start-function: ## lets a function run again
	$(lever) start-function

bench: ## times each endpoint against a bare handler, and simulates promos, ideas and juries
	go test ./local/tools/bench -run '^$$' -bench . -benchtime 100x -cpu 1
	go test ./shared/rules/promo ./shared/rules/jury ./functions/ideas -run 'SpendEvenly|DrawsAreEven|TestLikely$$' -v

# Run in this order, since later goldens contain parts of earlier ones: the OpenAPI document, then the examples
# of /docs. The samples of shared/identity/puzzle are left out: a person reviews them before
# they change.
GOLDEN = go test -vet=off -count=1 -parallel 8 -run '^TestGolden|^TestTranscripts$$'
golden: ## rewrites every golden: OpenAPI document, tools, costs, rights, transcripts, examples (a minute; rights need Node)
	@command -v node >/dev/null || echo "SKIPPED without Node: infra/testdata/iam.txt"
	$(GOLDEN) ./functions -update
	$(GOLDEN) ./local/transcripts -update
	$(GOLDEN) ./infra ./local/tools/bench -update

FUNCTIONS := $(wildcard functions/*/lambda events/*/lambda)

# Builds every function into a folder, for an operating system. chmod lets everybody run
# the file, whatever the umask is here: the zip keeps its mode, and Lambda runs it as
# another user.
binaries = @set -e; for f in $(FUNCTIONS); do n=$$(basename $$(dirname $$f)); \
	  CGO_ENABLED=0 $(2) go build -trimpath -buildvcs=false -ldflags "-s -w" \
	    -tags lambda.norpc -o $(1)/$$n/bootstrap ./$$f; chmod 755 $(1)/$$n/bootstrap; done

build: ## builds the functions for Lambda on arm64
	$(call binaries,build,GOOS=linux GOARCH=arm64)

LAMBDAS = $(CURDIR)/build/lambdas

weigh: FUNCTIONS += local/tools/weigh/hello/lambda local/tools/weigh/bare/lambda
weigh: build ## compares every function's zip and start-up with a hello-world Lambda's; fails above twice that
	$(call binaries,$(LAMBDAS))
	@go run ./local/tools/weigh

lambdas: ## runs the service with each built function in its own process, on DynamoDB Local (Java 17, Maven)
	$(call binaries,$(LAMBDAS))
	@go build -o build/local ./local && TABLE=dynamodb-local exec ./build/local -lambdas $(LAMBDAS)

# Each script starts a DynamoDB Local and processes for its functions. Eight at once are
# too many for two busy processors: functions time out waiting for the table.
lambdas-test: ## plays the transcripts on the built functions
	$(call binaries,$(LAMBDAS))
	TRANSCRIPTS_TABLE=dynamodb-local TRANSCRIPTS_LAMBDAS=$(LAMBDAS) $(TEST) -parallel 4 -count=1 ./local/transcripts

moto-test: ## plays the transcripts on the DynamoDB of moto, an imitation of AWS (Python; takes 20 minutes)
	@python3 -m venv build/moto && build/moto/bin/pip install -q --disable-pip-version-check 'moto[server,dynamodb]==5.2.5'
	TRANSCRIPTS_TABLE=dynamodb-local TRANSCRIPTS_MOTO=$(CURDIR)/build/moto/bin/moto_server go test -vet=off -count=1 -timeout 60m -parallel 2 -run '^TestTranscripts$$' ./local/transcripts

# STAGE and CONTEXT override cdk.json: CONTEXT="-c domain= -c mailFrom=".
# .npmrc has the CDK's version.
CDK = JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=1 npx cdk
context = $(if $(STAGE),-c stage=$(STAGE)) $(CONTEXT)

synth: ## writes the CloudFormation template to cdk.out (Go and Node; no AWS account)
	@rm -rf cdk.out
	$(CDK) synth --quiet $(context)
	@go run ./infra explain

# SAM's containers run Linux binaries: on Linux those of make lambdas, elsewhere a build of their own.
SAM = $(if $(filter Linux,$(shell uname)),$(LAMBDAS),$(CURDIR)/build/sam)
SAM_TEMPLATE = $(CURDIR)/build/sam.out/agentsocial-sam.template.json
sam sam-test: export PATH := $(PATH):$(CURDIR)/build/sam-venv/bin

build/sam-venv/made: Makefile
	@python3 -m venv build/sam-venv && build/sam-venv/bin/pip install -q --disable-pip-version-check aws-sam-cli==1.170.0 && touch $@

# Reports what is missing before a long build. The command reach runs in a container.
define check_sam
	@CGO_ENABLED=0 GOOS=linux go build -o build/reach ./local/engines/sam/reach
	@go build -o build/local ./local && $(1) build/local -check-sam build/reach
endef

# Installs SAM if it is missing, builds the functions and synthesises the template.
define for_sam
	@command -v sam >/dev/null || $(MAKE) --no-print-directory build/sam-venv/made
	$(call binaries,$(SAM),GOOS=linux)
	$(CDK) synth --quiet --build true --app "go run ./infra $(SAM)" --output $(dir $(SAM_TEMPLATE)) -c stage=sam -c mailFrom=no-reply@agentsocial.example $(CONTEXT)
endef

sam: ## runs the synthesised template in SAM's local gateway, on DynamoDB Local (Docker, Python, Node, Java 17, Maven)
	$(call check_sam)
	$(for_sam)
	@TABLE=dynamodb-local exec build/local -sam $(SAM) -template $(SAM_TEMPLATE)

# SAM spends most of a call waiting for a function's last log line, so more scripts run
# at once than there are processors.
SCRIPTS = blocks|credits|dm|docs|feed|life|mcp|oauth_token|page|post|profile|promos|search
sam-test: ## plays transcripts through SAM's gateway and containers (SCRIPTS='.*': all that SAM can play, 15 minutes)
	$(call check_sam,PORT=0)
	$(for_sam)
	TRANSCRIPTS_TABLE=dynamodb-local TRANSCRIPTS_SAM=$(SAM) TRANSCRIPTS_SAM_TEMPLATE=$(SAM_TEMPLATE) \
	  go test -vet=off -timeout 40m -p 1 -parallel 6 -count=1 -v -run 'TestContainers|TestTranscripts/^($(SCRIPTS))$$' ./local/engines/sam ./local/transcripts >build/sam-test.log || { cat build/sam-test.log; exit 1; }
	@grep -E '^ *--- ' build/sam-test.log
	@grep -q '^ *--- PASS: TestTranscripts/' build/sam-test.log || { echo "no script in local/testdata matches SCRIPTS=$(SCRIPTS)"; exit 1; }
	@echo "not played: $$(ls local/testdata | sed 's/\.txtar$$//' | grep -vxE '$(SCRIPTS)' | tr '\n' ' ')"

diff: ## shows what make deploy would change in a stage (FROM=FOLDER: between the template there and the one in cdk.out; no AWS account)
	$(CDK) diff $(if $(FROM),--app cdk.out --template $(FROM)/agentsocial-$(or $(STAGE),prod).template.json,-c version=$$(git describe --tags --always --abbrev=12)) $(context)

deploy rollback: export STAGE := $(STAGE)
deploy rollback: export CONTEXT := $(CONTEXT)
deploy rollback: export REVERT_DRIFT := $(REVERT_DRIFT)
deploy rollback: export TO := $(TO)

preflight: ## checks what make deploy needs: programs, credentials, quotas, certificate, mail (AWS CLI)
	@go run ./infra preflight $(context)

deploy: preflight ## builds, deploys, and lists what is left to do (AWS CLI; first run npx cdk bootstrap once; REVERT_DRIFT=1 restores what was changed or deleted by hand)
	@go run ./infra/deploy
	@go run ./infra/summary build/outputs.json

first-day: ## checks a deployed stage from outside, and with the AWS CLI, and prints what works and what does not: make first-day URL=https://… STAGE=prod (KEY=FILE and OTHER=FILE: keys of agents)
	@go run ./infra/firstday

rollback: ## deploys the version before, with the settings of its cdk.json (TO=commit deploys another)
	@go run ./infra/deploy rollback

destroy: ## deletes the stage dev with all its data: make destroy STAGE=dev
	@test "$(STAGE)" = dev || { echo "make destroy is only for STAGE=dev; infra/RUNBOOK.md says how to take another stage down"; exit 1; }
	$(CDK) destroy $(context)

lint: ## runs gofmt, vet, staticcheck, and actionlint for the workflows
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run gofmt -w on these"; exit 1; }
	go vet ./...
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...
	go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 -shellcheck= -pyflakes=

# Each race has its own server: DynamoDB Local gets slow as it fills.
RACES = ForAHandle ForTheLastKeys OfVerifyingAndLinkingAgain ForTheFiftiethToken ForTheLastUseOfALinkCode OfVisits OfWrongCodes OfDebits OfNotices ForTheLastFollows OfFollowing ForTheLastPush ForTheLastCredits OfTwoWhoTalk OfABlock OfReadersAndWriters OfManySenders OfReaders ForTheLastPlaces OfOneBuyer OfIdeas OfSupport OfAskingAgain OfDuplicates OfOneConsent OfGuessesOnTheConsentPage ForTheLastMails ForASharedCode

both: races ## plays the transcripts and the races on DynamoDB Local (Java 17, Maven)
	TRANSCRIPTS_TABLE=dynamodb-local $(TEST) -parallel 4 -count=1 ./local/transcripts

races: ## plays each race two hundred times on DynamoDB Local (Java 17, Maven)
	go test -c -o build/races.test ./local/service
	@cd local/service; printf '%s\n' $(RACES) | xargs -P 2 -n 1 sh -c 'echo "  $$0"; \
	  BOTH=1 ../../build/races.test -test.v -test.timeout 10m -test.run "^TestRace$$0\$$/dynamodb-local" >../../build/races.$$0 2>&1 && \
	  grep -q -e "--- PASS: TestRace$$0/dynamodb-local" ../../build/races.$$0 || { cat ../../build/races.$$0; exit 255; }'

# Python packages: the AWS CLI for tests of what calls it (operators use version 2, which is
# not on PyPI), the linter of templates, the quickstart's, and the one that checks answers
# against the OpenAPI document.
PYTHON = awscli==1.46.3 cfn-lint==1.58.0 cryptography==50.0.2 schemathesis==4.32.5

build/venv/made: Makefile
	@python3 -m venv build/venv && build/venv/bin/pip install -q --disable-pip-version-check $(PYTHON) && touch $@

# Linters of templates and policies. They pin other versions of what PYTHON needs, too.
POLICY = checkov==3.3.30 parliament==1.6.4

build/policy-venv/made: Makefile
	@python3 -m venv build/policy-venv && build/policy-venv/bin/pip install -q --disable-pip-version-check $(POLICY) && touch $@

venv: build/venv/made build/policy-venv/made ## installs the Python packages into build/venv and build/policy-venv

lint-template: build/venv/made build/policy-venv/made ## checks the template of make synth with cfn-lint, checkov and parliament (Python)
	build/venv/bin/cfn-lint -i W3005 -- cdk.out/*.template.json
	build/policy-venv/bin/checkov --config-file infra/checkov.yaml --file cdk.out/*.template.json
	@go run ./infra policies
	build/policy-venv/bin/parliament --config infra/parliament.yaml --directory build/policies --include_policy_extension json

contract: build/venv/made ## lints the OpenAPI document, and calls each endpoint with valid and invalid input (Node, Python)
	npx --yes --prefer-offline -p node@22.23.3 -p @redocly/cli@2.77.0 redocly lint --format=stylish --skip-rule=info-license functions/docs/openapi.json
	SCHEMATHESIS=build/venv/bin/schemathesis go run ./local/checks/fuzz

# The Python client. The tools of its build are those that its pyproject.toml requires, in a
# folder that later builds use again.
CLIENT = shared/client/python
CLIENT_WHEEL = build/clients/agentsocial-0.1.0-py3-none-any.whl
CLIENT_TESTS = mypy==2.4.1 pytest==9.2.0

build/clients/python-tools/made: $(CLIENT)/pyproject.toml
	@python3 -m venv $(@D) && $(@D)/bin/pip install -q --no-compile --disable-pip-version-check $$(sed -n 's/^requires = \[\(.*\)\]$$/\1/p' $< | tr -d '",') && touch $@

$(CLIENT_WHEEL): build/clients/python-tools/made functions/docs/openapi.json $(wildcard $(CLIENT)/*.* $(CLIENT)/generate/*.py $(CLIENT)/src/agentsocial/*.* $(CLIENT)/src/agentsocial/_async/*.py)
	@$(<D)/bin/pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation -w $(@D) ./$(CLIENT)

clients: client-python client-typescript ## builds the clients for agents into build/clients

client-python: $(CLIENT_WHEEL) ## builds the Python client and command: build/clients/agentsocial-*.whl (Python)

# The tests run in a new environment that has only the wheel and what it requires, besides
# the tests' own tools.
client-python-test: $(CLIENT_WHEEL) ## installs the Python client in a clean environment, and tests each of its methods against the service
	@go build -o build/local ./local
	@rm -rf build/clients/python-test && python3 -m venv build/clients/python-test && \
	  build/clients/python-test/bin/pip install -q --no-compile --disable-pip-version-check $(CLIENT_WHEEL) $(CLIENT_TESTS)
	cd $(CLIENT)/tests && ../../../../build/clients/python-test/bin/pytest -q -p no:cacheprovider $(ARGS)

# The TypeScript client. It is built in a copy, so that nothing generated is beside its sources.
TYPESCRIPT = build/clients/typescript
TYPESCRIPT_TEST = build/clients/typescript-test

$(TYPESCRIPT)/node_modules/made: $(addprefix shared/client/typescript/,package.json package-lock.json)
	@mkdir -p $(TYPESCRIPT) && cp $^ $(TYPESCRIPT)
	@npm ci --ignore-scripts --no-audit --no-fund --loglevel=error --prefix $(TYPESCRIPT) && touch $@

client-typescript: $(TYPESCRIPT)/node_modules/made ## builds the TypeScript client and command: build/clients/agentsocial-*.tgz (npm)
	@rm -rf $(addprefix $(TYPESCRIPT)/,src test dist) build/clients/agentsocial-*.tgz
	@cp -R $(addprefix shared/client/typescript/,README.md generate.mjs package.json src test tsconfig.json) $(TYPESCRIPT)
	@cd $(TYPESCRIPT) && npm run --silent build && npm pack --silent --pack-destination ..

client-typescript-test: client-typescript ## installs the TypeScript client in a new folder, and tests each of its methods against the service
	@go build -o build/local ./local
	@rm -rf $(TYPESCRIPT_TEST) && mkdir -p $(TYPESCRIPT_TEST) && cp -R $(TYPESCRIPT)/test $(TYPESCRIPT)/README.md $(TYPESCRIPT_TEST)
	@cd $(TYPESCRIPT_TEST) && npm init --yes >/dev/null && npm install --silent --no-audit --no-fund ../agentsocial-*.tgz
	@cd $(TYPESCRIPT_TEST) && AGENTSOCIAL_LOCAL=$(CURDIR)/build/local TOOLS=$(CURDIR)/$(TYPESCRIPT)/ node --test --test-concurrency=2 test/*.test.mjs

test-clients: ## runs third-party MCP clients, and clients generated from the OpenAPI document, against a service in memory, and reports what each could do (npm, Python, Chromium)
	@go run ./local/checks/clients

faults: ## plays transcripts with each table write failing in each possible way, and checks the invariants (PLACE=… limits it to some)
	@go test -C local/transcripts -c -o ../../build/faults . && cd local/transcripts && \
	  ../../build/faults -test.run '^TestFaults$$' -test.timeout 30m -faults -place '$(PLACE)'

mutants: ## changes each condition, comparison, number, TTL, order and cursor of the rules in turn, and checks that a test fails (MUTANT=… and KINDS=… limit it to some)
	@go run ./local/checks/mutants -only '$(MUTANT)' -kinds '$(KINDS)'

# Left out, since they compute for minutes: puzzle has no goroutines, and
# the goroutines of search and bench run in other packages' tests.
COMPUTE = /tools/bench$$|/identity/puzzle$$|/shared/search$$

OPS = 20000
SEED = 7
versus: ## compares the local service with PostgreSQL and PocketBase: processor time for each request (POSTS=10000; needs PostgreSQL, Linux)
	@go build -o build/local ./local
	cd local/checks/versus && go build -o ../../../build/versus . && ../../../build/versus -product ../../../build/local -posts $(or $(POSTS),10000)

simulate: ## runs the whole service in virtual time, with faults: make simulate OPS=20000 SEED=7 (several: SEED="7 8 9")
	@go test -c -o build/simulate ./local/checks/simulate
	@build/simulate -test.run '^TestWorlds$$' -test.timeout 0 -worlds -ops $(OPS) -seeds '$(SEED)'

SCENARIO = all
PARALLEL = 1
scale: ## runs the service in virtual time under the load of a large network, with a model of DynamoDB's limits: make scale SCENARIO="votes star" (SEED=7 PARALLEL=10)
	@go test -c -o build/scale ./local/checks/scale
	@build/scale -test.run '^TestScale$$' -test.timeout 0 -scenario '$(SCENARIO)' -seed $(firstword $(SEED)) -parallel $(PARALLEL)

simulate-defects: ## plants defects in the rules, one at a time, and checks that the simulation or a test finds each (DEFECT=… limits it to some)
	@go run ./local/checks/simulate/defects -only '$(DEFECT)'

race: ## runs the tests under the race detector, on the embedded table
	TABLES=embedded $(TEST) -race -short $$(go list ./tables/embedded ./shared/... ./functions/... ./events/... ./local/... | grep -Ev '$(COMPUTE)')
