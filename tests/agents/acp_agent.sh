# A scripted agent of the Agent Client Protocol, for a POSIX shell. A test reads it in, says what is
# different by defining functions anew, and calls `serve`:
#
#     on_prompt() { say "hello"; stop end_turn; }
#     serve
#
# Each line that it reads is kept in $JOURNAL. It has no JSON parser: the id of a message is the first
# number after "id":, as its peer writes it.

id=
session=s1

# Reads the next message: $line, its $id (empty for a notification) and its $method (empty for an answer).
hear() {
    IFS= read -r line || return 1
    printf '%s\n' "$line" >>"$JOURNAL"
    id= method=
    case $line in *'"id":'*) id=${line#*\"id\":} id=${id%%[,\}]*} ;; esac
    case $line in *'"method":'*) method=${line#*\"method\":\"} method=${method%%\"*} ;; esac
}

send() { printf '%s\n' "$1"; }
reply() { send "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }
fail() { send "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":$1}"; }
ask() { send "{\"jsonrpc\":\"2.0\",\"id\":$1,\"method\":\"$2\",\"params\":$3}"; }
update() {
    send "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"$session\",\"update\":$1}}"
}
chunk() { update "{\"sessionUpdate\":\"$1\",\"content\":{\"type\":\"text\",\"text\":\"$2\"}}"; }
say() { chunk agent_message_chunk "$1"; }
think() { chunk agent_thought_chunk "$1"; }
stop() { reply "{\"stopReason\":\"$1\"}"; }

# Asks for permission to run a command, offering these kinds of options.
ask_to_run() {
    call="\"title\":\"Run it\",\"kind\":\"execute\",\"rawInput\":{\"command\":\"$1\"}"
    shift
    ask_for "$call" "$@"
}

# The same for a call with these fields.
ask_for() {
    options=
    call="{\"toolCallId\":\"p1\",$1}"
    shift
    for kind in "$@"; do
        options="$options${options:+,}{\"optionId\":\"<$kind>\",\"name\":\"$kind\",\"kind\":\"$kind\"}"
    done
    ask 900 session/request_permission "{\"sessionId\":\"$session\",\"toolCall\":$call,\"options\":[$options]}"
}

can='{}'
on_initialize() {
    reply "{\"protocolVersion\":1,\"agentCapabilities\":$can,\"agentInfo\":{\"name\":\"scripted\",\"version\":\"7\"}}"
}
on_new() { reply "{\"sessionId\":\"$session\"}"; }
on_load() { fail '{"code":-32601,"message":"no such method"}'; }
on_resume() { fail '{"code":-32601,"message":"no such method"}'; }
on_list() { fail '{"code":-32601,"message":"no such method"}'; }
on_prompt() { say "hello"; stop end_turn; }
on_cancel() { :; }
on_answer() { :; }

serve() {
    while hear; do
        case $method in
        initialize) on_initialize ;;
        session/new) on_new ;;
        session/load) on_load ;;
        session/resume) on_resume ;;
        session/list) on_list ;;
        session/prompt) prompt=$id && on_prompt ;;
        session/cancel) on_cancel ;;
        *) on_answer ;;
        esac
    done
}
