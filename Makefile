# What people and CI call; the work is in scripts/, so that each step can be read and run by itself.

SHELL := /bin/bash
.DEFAULT_GOAL := help
# Shells would go to its folders, and print a line.
unexport CDPATH
.PHONY: help demo up down status build release deb image client-release release-check test test-api test-clients \
	bench tools chaos format lint man docs clean

ifeq ($(shell uname -s),Darwin)
export PKG_CONFIG_PATH := $(shell brew --prefix 2>/dev/null)/opt/libpq/lib/pkgconfig:$(PKG_CONFIG_PATH)
endif

# What every program tells as its revision.
export SECUREPUSH_REVISION := $(or $(SECUREPUSH_REVISION),$(shell scripts/revision.sh))

SOURCES := Package.swift Clients/Swift/Package.swift Clients/Swift/Sources Clients/Swift/Tests Examples Services Shared Tests Tools

help: ## list the targets
	@LC_ALL=C sed -nE 's/^([a-z-]+):.*## (.*)/\1\t\2/p' $(MAKEFILE_LIST) | awk -F'\t' '{ printf "  make %-14s %s\n", $$1, $$2 }'

demo: ## show the whole way of a secret on this machine; installs what is missing
	@scripts/demo.sh

up: build ## start the local stack in the background (STORE=postgres for PostgreSQL)
	@scripts/stack.sh up

down: ## stop the local stack; its data stays in .securepush/local
	@scripts/stack.sh down

status: ## what of the local stack runs
	@scripts/stack.sh status

build: ## compile for debugging
	@scripts/install-dependencies.sh demo
	@swift build --product securepush
	@scripts/links.sh .build/debug

release: ## compile for production, with Swift's libraries inside; symbols apart in .build/stripped
	@scripts/install-dependencies.sh build
	@# Only the product: the static libraries have no module Testing, which the tests' support needs.
	@SECUREPUSH_STATIC=1 swift build -c release --static-swift-stdlib --product securepush $(RELEASE_FLAGS)
	@scripts/links.sh .build/release
	@if [ "$$(uname -s)" = Linux ]; then scripts/strip.sh .build/release .build/stripped; fi

deb: release ## make Debian packages of the release executable, in .build/deb
	@scripts/deb.sh

image: ## build the container image (IMAGE=registry.example.org/securepush:0.2.0-alpha.1)
	@scripts/image.sh $(IMAGE)

client-release: ## split Clients/Swift off with its history, for apps to add by URL (REPOSITORY=URL)
	@scripts/client-release.sh "$(VERSION)" "$(REPOSITORY)"

release-check: ## check before a release what CI leaves out (ARGS="package image")
	@scripts/release-check.sh $(ARGS)

test: ## run every test, with RabbitMQ and PostgreSQL started beside them (ARGS="--filter StorageTests")
	@scripts/test.sh $(ARGS)

test-clients: ## test the SDKs of the other platforms: web (in Chromium), Android and Windows
	@scripts/test-clients.sh

test-api: ## send generated requests to both APIs on both stores, and compare the answers with /openapi.json
	@scripts/schemathesis.sh $(ARGS)

bench: ## count the instructions of hot paths, and compare them with the recorded ones (ARGS=--accept)
	@scripts/bench.sh $(ARGS)

tools: ## compile the tools for chaos and benchmarks (CONFIGURATION=release)
	@scripts/install-dependencies.sh build
	@SECUREPUSH_TOOLS=1 swift build -c $(or $(CONFIGURATION),debug)

chaos: tools ## break a stack on purpose and prove that nothing is lost (ARGS="--count 10000 --seed 7")
	@scripts/install-dependencies.sh test
	@swift build -c $(or $(CONFIGURATION),debug) --product securepush
	@CHAOS=.build/$(or $(CONFIGURATION),debug)/chaos SECUREPUSH_BIN=.build/$(or $(CONFIGURATION),debug) \
		scripts/chaos.sh $(ARGS)

format: ## put the sources into the house's form
	@swift format --in-place --recursive --parallel $(SOURCES)

lint: ## check the sources' form
	@swift format lint --strict --recursive --parallel $(SOURCES)

man: build ## write manual pages to .build/man and completion scripts to .build/completions
	@scripts/manual.sh

docs: ## build the documents as a site, in .build/site
	@scripts/docs.sh

clean: ## remove what was built; keys and data of local stacks stay
	@swift package clean
