# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_switchboard_global_optspecs
    string join \n home= read-only h/help V/version
end

function __fish_switchboard_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_switchboard_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_switchboard_using_subcommand
    set -l cmd (__fish_switchboard_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c switchboard -n "__fish_switchboard_needs_command" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_needs_command" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c switchboard -n "__fish_switchboard_needs_command" -s V -l version -d 'Print version'
complete -c switchboard -n "__fish_switchboard_needs_command" -f -a "serve" -d 'Run the engine without a screen; logs to standard error'
complete -c switchboard -n "__fish_switchboard_needs_command" -f -a "status" -d 'How the engine stands, and the counts'
complete -c switchboard -n "__fish_switchboard_needs_command" -f -a "sessions" -d 'The sessions, most urgent first'
complete -c switchboard -n "__fish_switchboard_needs_command" -f -a "queue" -d 'What waits and runs, in order'
complete -c switchboard -n "__fish_switchboard_needs_command" -f -a "recovery" -d 'What the last start found and did, session by session, and the starts before it'
complete -c switchboard -n "__fish_switchboard_needs_command" -f -a "alerts" -d 'What needs a person: open alerts, the last raised first'
complete -c switchboard -n "__fish_switchboard_needs_command" -f -a "allowed" -d 'What agents may run without asking for the rest of their sessions, since somebody said `always`'
complete -c switchboard -n "__fish_switchboard_needs_command" -f -a "processes" -d 'Background processes that agents started: those that run, then the last that ended'
complete -c switchboard -n "__fish_switchboard_needs_command" -f -a "report" -d 'What happened since a time: what failed, was cut off, resumed, given up, answered, and what it used'
complete -c switchboard -n "__fish_switchboard_needs_command" -f -a "send" -d 'Send a message or a slash command'
complete -c switchboard -n "__fish_switchboard_needs_command" -f -a "conversation" -d 'The conversations of host applications, and the state they share with their runtimes'
complete -c switchboard -n "__fish_switchboard_needs_command" -f -a "cron" -d 'Scheduled tasks'
complete -c switchboard -n "__fish_switchboard_needs_command" -f -a "events" -d 'What happened, oldest first; with --json sessions by their ids, else by their names'
complete -c switchboard -n "__fish_switchboard_needs_command" -f -a "suspend" -d 'Give a session up: its turn is stopped, its queue held, and its next message starts anew'
complete -c switchboard -n "__fish_switchboard_needs_command" -f -a "unsuspend" -d 'Take a suspension back: the session goes on with its history and its queue'
complete -c switchboard -n "__fish_switchboard_needs_command" -f -a "continue" -d 'Go on with a session: with what was cut off, and with its held queue'
complete -c switchboard -n "__fish_switchboard_needs_command" -f -a "hold" -d 'Nothing starts until `release`; messages are accepted and wait'
complete -c switchboard -n "__fish_switchboard_needs_command" -f -a "release" -d 'End the hold'
complete -c switchboard -n "__fish_switchboard_needs_command" -f -a "stop" -d 'Stop the engine: no turn begins, running ones get the drain\'s time'
complete -c switchboard -n "__fish_switchboard_needs_command" -f -a "restart" -d 'Restart the engine: its process begins anew after the drain; what that cuts is resumed'
complete -c switchboard -n "__fish_switchboard_needs_command" -f -a "config" -d 'The settings; without a command as `print`'
complete -c switchboard -n "__fish_switchboard_needs_command" -f -a "keymap" -d 'The key map in effect: the shipped one with the changes of the home\'s keymap.toml'
complete -c switchboard -n "__fish_switchboard_needs_command" -f -a "doctor" -d 'Examine the home, the settings, the scheduled tasks, the store, the agent and the terminal'
complete -c switchboard -n "__fish_switchboard_needs_command" -f -a "completions" -d 'Print the completions for a shell'
complete -c switchboard -n "__fish_switchboard_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c switchboard -n "__fish_switchboard_using_subcommand serve" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand serve" -l hold -d 'Begin on hold: nothing starts until `switchboard release`'
complete -c switchboard -n "__fish_switchboard_using_subcommand serve" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c switchboard -n "__fish_switchboard_using_subcommand status" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand status" -l json -d 'Print JSON, one object a line'
complete -c switchboard -n "__fish_switchboard_using_subcommand status" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand status" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand sessions" -l limit -d 'At most so many' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand sessions" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand sessions" -l ended -d 'Those that have ended too, the last active first'
complete -c switchboard -n "__fish_switchboard_using_subcommand sessions" -l json -d 'Print JSON, one object a line'
complete -c switchboard -n "__fish_switchboard_using_subcommand sessions" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand sessions" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand queue" -l session -d 'Only of this session, with what was put aside lately: a key, a name, a title, or an id' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand queue" -l limit -d 'At most so many' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand queue" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand queue" -l json -d 'Print JSON, one object a line'
complete -c switchboard -n "__fish_switchboard_using_subcommand queue" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand queue" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand recovery" -l start -d 'What this start did: its run, or the beginning of it' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand recovery" -l limit -d 'At most so many starts, and so many sessions' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand recovery" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand recovery" -l json -d 'Print JSON, one object a line'
complete -c switchboard -n "__fish_switchboard_using_subcommand recovery" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand recovery" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand alerts; and not __fish_seen_subcommand_from acknowledge help" -l limit -d 'At most so many' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand alerts; and not __fish_seen_subcommand_from acknowledge help" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand alerts; and not __fish_seen_subcommand_from acknowledge help" -l json -d 'Print JSON, one object a line'
complete -c switchboard -n "__fish_switchboard_using_subcommand alerts; and not __fish_seen_subcommand_from acknowledge help" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand alerts; and not __fish_seen_subcommand_from acknowledge help" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand alerts; and not __fish_seen_subcommand_from acknowledge help" -f -a "acknowledge" -d 'Say that you know: the alert stays open, but is not counted and not told again'
complete -c switchboard -n "__fish_switchboard_using_subcommand alerts; and not __fish_seen_subcommand_from acknowledge help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c switchboard -n "__fish_switchboard_using_subcommand alerts; and __fish_seen_subcommand_from acknowledge" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand alerts; and __fish_seen_subcommand_from acknowledge" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand alerts; and __fish_seen_subcommand_from acknowledge" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand alerts; and __fish_seen_subcommand_from help" -f -a "acknowledge" -d 'Say that you know: the alert stays open, but is not counted and not told again'
complete -c switchboard -n "__fish_switchboard_using_subcommand alerts; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c switchboard -n "__fish_switchboard_using_subcommand allowed; and not __fish_seen_subcommand_from remove help" -l session -d 'Only in this session: a key, a name, a title, an id or the beginning of one' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand allowed; and not __fish_seen_subcommand_from remove help" -l limit -d 'At most so many' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand allowed; and not __fish_seen_subcommand_from remove help" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand allowed; and not __fish_seen_subcommand_from remove help" -l json -d 'Print JSON, one object a line'
complete -c switchboard -n "__fish_switchboard_using_subcommand allowed; and not __fish_seen_subcommand_from remove help" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand allowed; and not __fish_seen_subcommand_from remove help" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand allowed; and not __fish_seen_subcommand_from remove help" -f -a "remove" -d 'Take one back: the agent asks again'
complete -c switchboard -n "__fish_switchboard_using_subcommand allowed; and not __fish_seen_subcommand_from remove help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c switchboard -n "__fish_switchboard_using_subcommand allowed; and __fish_seen_subcommand_from remove" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand allowed; and __fish_seen_subcommand_from remove" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand allowed; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand allowed; and __fish_seen_subcommand_from help" -f -a "remove" -d 'Take one back: the agent asks again'
complete -c switchboard -n "__fish_switchboard_using_subcommand allowed; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c switchboard -n "__fish_switchboard_using_subcommand processes" -l limit -d 'At most so many' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand processes" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand processes" -l json -d 'Print JSON, one object a line'
complete -c switchboard -n "__fish_switchboard_using_subcommand processes" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand processes" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand report" -l since -d 'A time (2026-11-29T14:00:00Z) or how long ago (90s, 30min, 8h, 2d) [default: when a console was last used, or a day ago if it was used since]' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand report" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand report" -l json -d 'Print JSON, one object a line'
complete -c switchboard -n "__fish_switchboard_using_subcommand report" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand report" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand send" -l session -d 'The session: a key, or the name of a local session, which is made if there is none [default: console]' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand send" -l conversation -d 'A host application\'s conversation: the same id has the same session for ever' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand send" -l user -d 'The conversation\'s user, where each has a session of his own' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand send" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand send" -l queue -d 'Add it to the queue: a turn of its own, in order'
complete -c switchboard -n "__fish_switchboard_using_subcommand send" -l wait -d 'Print the answer as it comes, and wait until its turn has ended'
complete -c switchboard -n "__fish_switchboard_using_subcommand send" -l json -d 'Print JSON, one object a line'
complete -c switchboard -n "__fish_switchboard_using_subcommand send" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand send" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and not __fish_seen_subcommand_from list show state help" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and not __fish_seen_subcommand_from list show state help" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and not __fish_seen_subcommand_from list show state help" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and not __fish_seen_subcommand_from list show state help" -f -a "list" -d 'All of them'
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and not __fish_seen_subcommand_from list show state help" -f -a "show" -d 'One of them, with its agent state'
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and not __fish_seen_subcommand_from list show state help" -f -a "state" -d 'Put the host\'s agent state in place of the one before'
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and not __fish_seen_subcommand_from list show state help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and __fish_seen_subcommand_from list" -l limit -d 'At most so many' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and __fish_seen_subcommand_from list" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and __fish_seen_subcommand_from list" -l json -d 'Print JSON, one object a line'
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and __fish_seen_subcommand_from list" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and __fish_seen_subcommand_from show" -l user -d 'Its user, where each has a session of his own' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and __fish_seen_subcommand_from show" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and __fish_seen_subcommand_from show" -l json -d 'Print JSON, one object a line'
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and __fish_seen_subcommand_from show" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and __fish_seen_subcommand_from state" -l user -d 'Its user, where each has a session of his own' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and __fish_seen_subcommand_from state" -l set -d 'A file with the state, a JSON object; it is kept byte for byte' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and __fish_seen_subcommand_from state" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and __fish_seen_subcommand_from state" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and __fish_seen_subcommand_from state" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and __fish_seen_subcommand_from help" -f -a "list" -d 'All of them'
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and __fish_seen_subcommand_from help" -f -a "show" -d 'One of them, with its agent state'
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and __fish_seen_subcommand_from help" -f -a "state" -d 'Put the host\'s agent state in place of the one before'
complete -c switchboard -n "__fish_switchboard_using_subcommand conversation; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and not __fish_seen_subcommand_from list show add edit pause resume run remove history output next check help" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and not __fish_seen_subcommand_from list show add edit pause resume run remove history output next check help" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and not __fish_seen_subcommand_from list show add edit pause resume run remove history output next check help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and not __fish_seen_subcommand_from list show add edit pause resume run remove history output next check help" -f -a "list" -d 'The jobs, the most urgent first'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and not __fish_seen_subcommand_from list show add edit pause resume run remove history output next check help" -f -a "show" -d 'One job: its definition, its next slots, its runs'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and not __fish_seen_subcommand_from list show add edit pause resume run remove history output next check help" -f -a "add" -d 'Make a job'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and not __fish_seen_subcommand_from list show add edit pause resume run remove history output next check help" -f -a "edit" -d 'Change fields of a job'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and not __fish_seen_subcommand_from list show add edit pause resume run remove history output next check help" -f -a "pause" -d 'Take no slot of a job until it is resumed'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and not __fish_seen_subcommand_from list show add edit pause resume run remove history output next check help" -f -a "resume" -d 'Take a job\'s slots again'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and not __fish_seen_subcommand_from list show add edit pause resume run remove history output next check help" -f -a "run" -d 'Run a job now, beside its slots'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and not __fish_seen_subcommand_from list show add edit pause resume run remove history output next check help" -f -a "remove" -d 'Take a job out of jobs.json'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and not __fish_seen_subcommand_from list show add edit pause resume run remove history output next check help" -f -a "history" -d 'What became of the slots, newest first'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and not __fish_seen_subcommand_from list show add edit pause resume run remove history output next check help" -f -a "output" -d 'The output document of a run'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and not __fish_seen_subcommand_from list show add edit pause resume run remove history output next check help" -f -a "next" -d 'The next slots of a schedule, one a line; what it means and its traps on standard error'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and not __fish_seen_subcommand_from list show add edit pause resume run remove history output next check help" -f -a "check" -d 'Check a jobs.json: what is wrong with each job, and its next five slots'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and not __fish_seen_subcommand_from list show add edit pause resume run remove history output next check help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from list" -l filter -d 'Only those whose id, name or state contain it' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from list" -l limit -d 'At most so many' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from list" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from list" -l json -d 'Print JSON, one object a line'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from list" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from show" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from show" -l json -d 'Print JSON, one object a line'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from show" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from add" -l id -d 'its name: letters, digits, . _ -' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from add" -l name -d 'its name for people' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from add" -l timezone -d 'the zone of its wall-clock times, like Europe/Berlin' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from add" -l description -d 'what it is for; also the prompt where there is none' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from add" -l skills -d 'the skills that are loaded, in order' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from add" -l deliver-to -d 'who gets the result: local, console, telegram:CHAT:THREAD' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from add" -l enabled -d 'whether its slots are taken; no pauses it' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from add" -l repeat -d 'how often it fires in all; empty: for ever' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from add" -l misfire -d 'what becomes of slots that were missed' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from add" -l overlap -d 'what happens at a slot while an earlier run still works' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from add" -l jitter-seconds -d 'up to so many seconds its fires are set off from their slot' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from add" -l script -d 'a program in scripts/ that runs first' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from add" -l no-agent -d 'whether the script\'s output is the result, without any agent' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from add" -l context-from -d 'the jobs whose newest output goes into the prompt' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from add" -l agent -d 'the agent that runs it, by its name in the settings' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from add" -l model -d 'the model, as the agent\'s server knows it' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from add" -l workdir -d 'the folder in which it works; an absolute path' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from add" -l timeout-minutes -d 'after so many minutes a run is stopped; empty: never' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from add" -l session -d 'whether each run begins with an empty memory' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from add" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from add" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from edit" -l id -d 'its name: letters, digits, . _ -' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from edit" -l name -d 'its name for people' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from edit" -l schedule -d 'when it is due: "0 8 * * *", "weekdays at 9:30", "every 2h"' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from edit" -l timezone -d 'the zone of its wall-clock times, like Europe/Berlin' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from edit" -l description -d 'what it is for; also the prompt where there is none' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from edit" -l prompt -d 'what the agent is told' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from edit" -l skills -d 'the skills that are loaded, in order' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from edit" -l deliver-to -d 'who gets the result: local, console, telegram:CHAT:THREAD' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from edit" -l enabled -d 'whether its slots are taken; no pauses it' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from edit" -l repeat -d 'how often it fires in all; empty: for ever' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from edit" -l misfire -d 'what becomes of slots that were missed' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from edit" -l overlap -d 'what happens at a slot while an earlier run still works' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from edit" -l jitter-seconds -d 'up to so many seconds its fires are set off from their slot' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from edit" -l script -d 'a program in scripts/ that runs first' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from edit" -l no-agent -d 'whether the script\'s output is the result, without any agent' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from edit" -l context-from -d 'the jobs whose newest output goes into the prompt' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from edit" -l agent -d 'the agent that runs it, by its name in the settings' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from edit" -l model -d 'the model, as the agent\'s server knows it' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from edit" -l workdir -d 'the folder in which it works; an absolute path' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from edit" -l timeout-minutes -d 'after so many minutes a run is stopped; empty: never' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from edit" -l session -d 'whether each run begins with an empty memory' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from edit" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from edit" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from edit" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from pause" -l why -d 'Why, for whoever finds it' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from pause" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from pause" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from pause" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from resume" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from resume" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from resume" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from run" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from run" -l count -d 'Count the run for the job\'s repeat'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from run" -l wait -d 'Wait for the run\'s end; a run that does not succeed exits with 1'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from run" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from remove" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from remove" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from history" -l limit -d 'At most so many' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from history" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from history" -l json -d 'Print JSON, one object a line'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from history" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from history" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from output" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from output" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from output" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from next" -l timezone -d 'The time zone whose clock is meant [default: the operator\'s]' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from next" -l from -d 'The instant after which the slots come, and from which intervals count [default: now]' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from next" -l count -d 'So many' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from next" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from next" -l json -d 'Print JSON, one object a line'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from next" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from next" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from check" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from check" -l json -d 'Print JSON, one object a line'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from check" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from help" -f -a "list" -d 'The jobs, the most urgent first'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from help" -f -a "show" -d 'One job: its definition, its next slots, its runs'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from help" -f -a "add" -d 'Make a job'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from help" -f -a "edit" -d 'Change fields of a job'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from help" -f -a "pause" -d 'Take no slot of a job until it is resumed'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from help" -f -a "resume" -d 'Take a job\'s slots again'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from help" -f -a "run" -d 'Run a job now, beside its slots'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from help" -f -a "remove" -d 'Take a job out of jobs.json'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from help" -f -a "history" -d 'What became of the slots, newest first'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from help" -f -a "output" -d 'The output document of a run'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from help" -f -a "next" -d 'The next slots of a schedule, one a line; what it means and its traps on standard error'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from help" -f -a "check" -d 'Check a jobs.json: what is wrong with each job, and its next five slots'
complete -c switchboard -n "__fish_switchboard_using_subcommand cron; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c switchboard -n "__fish_switchboard_using_subcommand events" -l after -d 'Everything after this event; without it the newest' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand events" -l level -d 'At least this much: debug, info, warn, error' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand events" -l session -d 'Only of this session: a key, a name, a title, or an id' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand events" -l limit -d 'How many of the newest' -r
complete -c switchboard -n "__fish_switchboard_using_subcommand events" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand events" -s f -l follow -d 'Go on and print events as they come'
complete -c switchboard -n "__fish_switchboard_using_subcommand events" -l json -d 'Print JSON, one object a line'
complete -c switchboard -n "__fish_switchboard_using_subcommand events" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand events" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand suspend" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand suspend" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand suspend" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand unsuspend" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand unsuspend" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand unsuspend" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand continue" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand continue" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand continue" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand hold" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand hold" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand hold" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand release" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand release" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand release" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand stop" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand stop" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand stop" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand restart" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand restart" -l yes -d 'Don\'t ask, though one more cut would suspend a session that runs'
complete -c switchboard -n "__fish_switchboard_using_subcommand restart" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand restart" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand config; and not __fish_seen_subcommand_from check path print help" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand config; and not __fish_seen_subcommand_from check path print help" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand config; and not __fish_seen_subcommand_from check path print help" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand config; and not __fish_seen_subcommand_from check path print help" -f -a "check" -d 'Tell what is wrong in config.toml and keymap.toml, with file and line'
complete -c switchboard -n "__fish_switchboard_using_subcommand config; and not __fish_seen_subcommand_from check path print help" -f -a "path" -d 'Print where config.toml is'
complete -c switchboard -n "__fish_switchboard_using_subcommand config; and not __fish_seen_subcommand_from check path print help" -f -a "print" -d 'Print the values that apply, and which of them the file sets'
complete -c switchboard -n "__fish_switchboard_using_subcommand config; and not __fish_seen_subcommand_from check path print help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c switchboard -n "__fish_switchboard_using_subcommand config; and __fish_seen_subcommand_from check" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand config; and __fish_seen_subcommand_from check" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand config; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand config; and __fish_seen_subcommand_from path" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand config; and __fish_seen_subcommand_from path" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand config; and __fish_seen_subcommand_from path" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand config; and __fish_seen_subcommand_from print" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand config; and __fish_seen_subcommand_from print" -l json -d 'Print JSON, one object a line'
complete -c switchboard -n "__fish_switchboard_using_subcommand config; and __fish_seen_subcommand_from print" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand config; and __fish_seen_subcommand_from print" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "check" -d 'Tell what is wrong in config.toml and keymap.toml, with file and line'
complete -c switchboard -n "__fish_switchboard_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "path" -d 'Print where config.toml is'
complete -c switchboard -n "__fish_switchboard_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "print" -d 'Print the values that apply, and which of them the file sets'
complete -c switchboard -n "__fish_switchboard_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c switchboard -n "__fish_switchboard_using_subcommand keymap" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand keymap" -l json -d 'Print JSON, one object a line'
complete -c switchboard -n "__fish_switchboard_using_subcommand keymap" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand keymap" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand doctor" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand doctor" -l json -d 'Print JSON, one object a line'
complete -c switchboard -n "__fish_switchboard_using_subcommand doctor" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand doctor" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand completions" -l home -d 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]' -r -F
complete -c switchboard -n "__fish_switchboard_using_subcommand completions" -l read-only -d 'Look only: refuse whatever changes something, and start no engine'
complete -c switchboard -n "__fish_switchboard_using_subcommand completions" -s h -l help -d 'Print help'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and not __fish_seen_subcommand_from serve status sessions queue recovery alerts allowed processes report send conversation cron events suspend unsuspend continue hold release stop restart config keymap doctor completions help" -f -a "serve" -d 'Run the engine without a screen; logs to standard error'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and not __fish_seen_subcommand_from serve status sessions queue recovery alerts allowed processes report send conversation cron events suspend unsuspend continue hold release stop restart config keymap doctor completions help" -f -a "status" -d 'How the engine stands, and the counts'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and not __fish_seen_subcommand_from serve status sessions queue recovery alerts allowed processes report send conversation cron events suspend unsuspend continue hold release stop restart config keymap doctor completions help" -f -a "sessions" -d 'The sessions, most urgent first'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and not __fish_seen_subcommand_from serve status sessions queue recovery alerts allowed processes report send conversation cron events suspend unsuspend continue hold release stop restart config keymap doctor completions help" -f -a "queue" -d 'What waits and runs, in order'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and not __fish_seen_subcommand_from serve status sessions queue recovery alerts allowed processes report send conversation cron events suspend unsuspend continue hold release stop restart config keymap doctor completions help" -f -a "recovery" -d 'What the last start found and did, session by session, and the starts before it'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and not __fish_seen_subcommand_from serve status sessions queue recovery alerts allowed processes report send conversation cron events suspend unsuspend continue hold release stop restart config keymap doctor completions help" -f -a "alerts" -d 'What needs a person: open alerts, the last raised first'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and not __fish_seen_subcommand_from serve status sessions queue recovery alerts allowed processes report send conversation cron events suspend unsuspend continue hold release stop restart config keymap doctor completions help" -f -a "allowed" -d 'What agents may run without asking for the rest of their sessions, since somebody said `always`'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and not __fish_seen_subcommand_from serve status sessions queue recovery alerts allowed processes report send conversation cron events suspend unsuspend continue hold release stop restart config keymap doctor completions help" -f -a "processes" -d 'Background processes that agents started: those that run, then the last that ended'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and not __fish_seen_subcommand_from serve status sessions queue recovery alerts allowed processes report send conversation cron events suspend unsuspend continue hold release stop restart config keymap doctor completions help" -f -a "report" -d 'What happened since a time: what failed, was cut off, resumed, given up, answered, and what it used'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and not __fish_seen_subcommand_from serve status sessions queue recovery alerts allowed processes report send conversation cron events suspend unsuspend continue hold release stop restart config keymap doctor completions help" -f -a "send" -d 'Send a message or a slash command'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and not __fish_seen_subcommand_from serve status sessions queue recovery alerts allowed processes report send conversation cron events suspend unsuspend continue hold release stop restart config keymap doctor completions help" -f -a "conversation" -d 'The conversations of host applications, and the state they share with their runtimes'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and not __fish_seen_subcommand_from serve status sessions queue recovery alerts allowed processes report send conversation cron events suspend unsuspend continue hold release stop restart config keymap doctor completions help" -f -a "cron" -d 'Scheduled tasks'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and not __fish_seen_subcommand_from serve status sessions queue recovery alerts allowed processes report send conversation cron events suspend unsuspend continue hold release stop restart config keymap doctor completions help" -f -a "events" -d 'What happened, oldest first; with --json sessions by their ids, else by their names'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and not __fish_seen_subcommand_from serve status sessions queue recovery alerts allowed processes report send conversation cron events suspend unsuspend continue hold release stop restart config keymap doctor completions help" -f -a "suspend" -d 'Give a session up: its turn is stopped, its queue held, and its next message starts anew'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and not __fish_seen_subcommand_from serve status sessions queue recovery alerts allowed processes report send conversation cron events suspend unsuspend continue hold release stop restart config keymap doctor completions help" -f -a "unsuspend" -d 'Take a suspension back: the session goes on with its history and its queue'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and not __fish_seen_subcommand_from serve status sessions queue recovery alerts allowed processes report send conversation cron events suspend unsuspend continue hold release stop restart config keymap doctor completions help" -f -a "continue" -d 'Go on with a session: with what was cut off, and with its held queue'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and not __fish_seen_subcommand_from serve status sessions queue recovery alerts allowed processes report send conversation cron events suspend unsuspend continue hold release stop restart config keymap doctor completions help" -f -a "hold" -d 'Nothing starts until `release`; messages are accepted and wait'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and not __fish_seen_subcommand_from serve status sessions queue recovery alerts allowed processes report send conversation cron events suspend unsuspend continue hold release stop restart config keymap doctor completions help" -f -a "release" -d 'End the hold'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and not __fish_seen_subcommand_from serve status sessions queue recovery alerts allowed processes report send conversation cron events suspend unsuspend continue hold release stop restart config keymap doctor completions help" -f -a "stop" -d 'Stop the engine: no turn begins, running ones get the drain\'s time'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and not __fish_seen_subcommand_from serve status sessions queue recovery alerts allowed processes report send conversation cron events suspend unsuspend continue hold release stop restart config keymap doctor completions help" -f -a "restart" -d 'Restart the engine: its process begins anew after the drain; what that cuts is resumed'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and not __fish_seen_subcommand_from serve status sessions queue recovery alerts allowed processes report send conversation cron events suspend unsuspend continue hold release stop restart config keymap doctor completions help" -f -a "config" -d 'The settings; without a command as `print`'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and not __fish_seen_subcommand_from serve status sessions queue recovery alerts allowed processes report send conversation cron events suspend unsuspend continue hold release stop restart config keymap doctor completions help" -f -a "keymap" -d 'The key map in effect: the shipped one with the changes of the home\'s keymap.toml'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and not __fish_seen_subcommand_from serve status sessions queue recovery alerts allowed processes report send conversation cron events suspend unsuspend continue hold release stop restart config keymap doctor completions help" -f -a "doctor" -d 'Examine the home, the settings, the scheduled tasks, the store, the agent and the terminal'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and not __fish_seen_subcommand_from serve status sessions queue recovery alerts allowed processes report send conversation cron events suspend unsuspend continue hold release stop restart config keymap doctor completions help" -f -a "completions" -d 'Print the completions for a shell'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and not __fish_seen_subcommand_from serve status sessions queue recovery alerts allowed processes report send conversation cron events suspend unsuspend continue hold release stop restart config keymap doctor completions help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and __fish_seen_subcommand_from alerts" -f -a "acknowledge" -d 'Say that you know: the alert stays open, but is not counted and not told again'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and __fish_seen_subcommand_from allowed" -f -a "remove" -d 'Take one back: the agent asks again'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and __fish_seen_subcommand_from conversation" -f -a "list" -d 'All of them'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and __fish_seen_subcommand_from conversation" -f -a "show" -d 'One of them, with its agent state'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and __fish_seen_subcommand_from conversation" -f -a "state" -d 'Put the host\'s agent state in place of the one before'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and __fish_seen_subcommand_from cron" -f -a "list" -d 'The jobs, the most urgent first'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and __fish_seen_subcommand_from cron" -f -a "show" -d 'One job: its definition, its next slots, its runs'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and __fish_seen_subcommand_from cron" -f -a "add" -d 'Make a job'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and __fish_seen_subcommand_from cron" -f -a "edit" -d 'Change fields of a job'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and __fish_seen_subcommand_from cron" -f -a "pause" -d 'Take no slot of a job until it is resumed'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and __fish_seen_subcommand_from cron" -f -a "resume" -d 'Take a job\'s slots again'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and __fish_seen_subcommand_from cron" -f -a "run" -d 'Run a job now, beside its slots'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and __fish_seen_subcommand_from cron" -f -a "remove" -d 'Take a job out of jobs.json'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and __fish_seen_subcommand_from cron" -f -a "history" -d 'What became of the slots, newest first'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and __fish_seen_subcommand_from cron" -f -a "output" -d 'The output document of a run'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and __fish_seen_subcommand_from cron" -f -a "next" -d 'The next slots of a schedule, one a line; what it means and its traps on standard error'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and __fish_seen_subcommand_from cron" -f -a "check" -d 'Check a jobs.json: what is wrong with each job, and its next five slots'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "check" -d 'Tell what is wrong in config.toml and keymap.toml, with file and line'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "path" -d 'Print where config.toml is'
complete -c switchboard -n "__fish_switchboard_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "print" -d 'Print the values that apply, and which of them the file sets'
