
use builtin;
use str;

set edit:completion:arg-completer[switchboard] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'switchboard'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'switchboard'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand serve 'Run the engine without a screen; logs to standard error'
            cand status 'How the engine stands, and the counts'
            cand sessions 'The sessions, most urgent first'
            cand queue 'What waits and runs, in order'
            cand recovery 'What the last start found and did, session by session, and the starts before it'
            cand alerts 'What needs a person: open alerts, the last raised first'
            cand allowed 'What agents may run without asking for the rest of their sessions, since somebody said `always`'
            cand processes 'Background processes that agents started: those that run, then the last that ended'
            cand report 'What happened since a time: what failed, was cut off, resumed, given up, answered, and what it used'
            cand send 'Send a message or a slash command'
            cand conversation 'The conversations of host applications, and the state they share with their runtimes'
            cand cron 'Scheduled tasks'
            cand events 'What happened, oldest first; with --json sessions by their ids, else by their names'
            cand suspend 'Give a session up: its turn is stopped, its queue held, and its next message starts anew'
            cand unsuspend 'Take a suspension back: the session goes on with its history and its queue'
            cand continue 'Go on with a session: with what was cut off, and with its held queue'
            cand hold 'Nothing starts until `release`; messages are accepted and wait'
            cand release 'End the hold'
            cand stop 'Stop the engine: no turn begins, running ones get the drain''s time'
            cand restart 'Restart the engine: its process begins anew after the drain; what that cuts is resumed'
            cand config 'The settings; without a command as `print`'
            cand keymap 'The key map in effect: the shipped one with the changes of the home''s keymap.toml'
            cand doctor 'Examine the home, the settings, the scheduled tasks, the store, the agent and the terminal'
            cand completions 'Print the completions for a shell'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'switchboard;serve'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --hold 'Begin on hold: nothing starts until `switchboard release`'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'switchboard;status'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --json 'Print JSON, one object a line'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;sessions'= {
            cand --limit 'At most so many'
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --ended 'Those that have ended too, the last active first'
            cand --json 'Print JSON, one object a line'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;queue'= {
            cand --session 'Only of this session, with what was put aside lately: a key, a name, a title, or an id'
            cand --limit 'At most so many'
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --json 'Print JSON, one object a line'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;recovery'= {
            cand --start 'What this start did: its run, or the beginning of it'
            cand --limit 'At most so many starts, and so many sessions'
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --json 'Print JSON, one object a line'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;alerts'= {
            cand --limit 'At most so many'
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --json 'Print JSON, one object a line'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
            cand acknowledge 'Say that you know: the alert stays open, but is not counted and not told again'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'switchboard;alerts;acknowledge'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;alerts;help'= {
            cand acknowledge 'Say that you know: the alert stays open, but is not counted and not told again'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'switchboard;alerts;help;acknowledge'= {
        }
        &'switchboard;alerts;help;help'= {
        }
        &'switchboard;allowed'= {
            cand --session 'Only in this session: a key, a name, a title, an id or the beginning of one'
            cand --limit 'At most so many'
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --json 'Print JSON, one object a line'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
            cand remove 'Take one back: the agent asks again'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'switchboard;allowed;remove'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;allowed;help'= {
            cand remove 'Take one back: the agent asks again'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'switchboard;allowed;help;remove'= {
        }
        &'switchboard;allowed;help;help'= {
        }
        &'switchboard;processes'= {
            cand --limit 'At most so many'
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --json 'Print JSON, one object a line'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;report'= {
            cand --since 'A time (2026-11-29T14:00:00Z) or how long ago (90s, 30min, 8h, 2d) [default: when a console was last used, or a day ago if it was used since]'
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --json 'Print JSON, one object a line'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;send'= {
            cand --session 'The session: a key, or the name of a local session, which is made if there is none [default: console]'
            cand --conversation 'A host application''s conversation: the same id has the same session for ever'
            cand --user 'The conversation''s user, where each has a session of his own'
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --queue 'Add it to the queue: a turn of its own, in order'
            cand --wait 'Print the answer as it comes, and wait until its turn has ended'
            cand --json 'Print JSON, one object a line'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;conversation'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
            cand list 'All of them'
            cand show 'One of them, with its agent state'
            cand state 'Put the host''s agent state in place of the one before'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'switchboard;conversation;list'= {
            cand --limit 'At most so many'
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --json 'Print JSON, one object a line'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;conversation;show'= {
            cand --user 'Its user, where each has a session of his own'
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --json 'Print JSON, one object a line'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;conversation;state'= {
            cand --user 'Its user, where each has a session of his own'
            cand --set 'A file with the state, a JSON object; it is kept byte for byte'
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;conversation;help'= {
            cand list 'All of them'
            cand show 'One of them, with its agent state'
            cand state 'Put the host''s agent state in place of the one before'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'switchboard;conversation;help;list'= {
        }
        &'switchboard;conversation;help;show'= {
        }
        &'switchboard;conversation;help;state'= {
        }
        &'switchboard;conversation;help;help'= {
        }
        &'switchboard;cron'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand list 'The jobs, the most urgent first'
            cand show 'One job: its definition, its next slots, its runs'
            cand add 'Make a job'
            cand edit 'Change fields of a job'
            cand pause 'Take no slot of a job until it is resumed'
            cand resume 'Take a job''s slots again'
            cand run 'Run a job now, beside its slots'
            cand remove 'Take a job out of jobs.json'
            cand history 'What became of the slots, newest first'
            cand output 'The output document of a run'
            cand next 'The next slots of a schedule, one a line; what it means and its traps on standard error'
            cand check 'Check a jobs.json: what is wrong with each job, and its next five slots'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'switchboard;cron;list'= {
            cand --filter 'Only those whose id, name or state contain it'
            cand --limit 'At most so many'
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --json 'Print JSON, one object a line'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;cron;show'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --json 'Print JSON, one object a line'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;cron;add'= {
            cand --id 'its name: letters, digits, . _ -'
            cand --name 'its name for people'
            cand --timezone 'the zone of its wall-clock times, like Europe/Berlin'
            cand --description 'what it is for; also the prompt where there is none'
            cand --skills 'the skills that are loaded, in order'
            cand --deliver-to 'who gets the result: local, console, telegram:CHAT:THREAD'
            cand --enabled 'whether its slots are taken; no pauses it'
            cand --repeat 'how often it fires in all; empty: for ever'
            cand --misfire 'what becomes of slots that were missed'
            cand --overlap 'what happens at a slot while an earlier run still works'
            cand --jitter-seconds 'up to so many seconds its fires are set off from their slot'
            cand --script 'a program in scripts/ that runs first'
            cand --no-agent 'whether the script''s output is the result, without any agent'
            cand --context-from 'the jobs whose newest output goes into the prompt'
            cand --agent 'the agent that runs it, by its name in the settings'
            cand --model 'the model, as the agent''s server knows it'
            cand --workdir 'the folder in which it works; an absolute path'
            cand --timeout-minutes 'after so many minutes a run is stopped; empty: never'
            cand --session 'whether each run begins with an empty memory'
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;cron;edit'= {
            cand --id 'its name: letters, digits, . _ -'
            cand --name 'its name for people'
            cand --schedule 'when it is due: "0 8 * * *", "weekdays at 9:30", "every 2h"'
            cand --timezone 'the zone of its wall-clock times, like Europe/Berlin'
            cand --description 'what it is for; also the prompt where there is none'
            cand --prompt 'what the agent is told'
            cand --skills 'the skills that are loaded, in order'
            cand --deliver-to 'who gets the result: local, console, telegram:CHAT:THREAD'
            cand --enabled 'whether its slots are taken; no pauses it'
            cand --repeat 'how often it fires in all; empty: for ever'
            cand --misfire 'what becomes of slots that were missed'
            cand --overlap 'what happens at a slot while an earlier run still works'
            cand --jitter-seconds 'up to so many seconds its fires are set off from their slot'
            cand --script 'a program in scripts/ that runs first'
            cand --no-agent 'whether the script''s output is the result, without any agent'
            cand --context-from 'the jobs whose newest output goes into the prompt'
            cand --agent 'the agent that runs it, by its name in the settings'
            cand --model 'the model, as the agent''s server knows it'
            cand --workdir 'the folder in which it works; an absolute path'
            cand --timeout-minutes 'after so many minutes a run is stopped; empty: never'
            cand --session 'whether each run begins with an empty memory'
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;cron;pause'= {
            cand --why 'Why, for whoever finds it'
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;cron;resume'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;cron;run'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --count 'Count the run for the job''s repeat'
            cand --wait 'Wait for the run''s end; a run that does not succeed exits with 1'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;cron;remove'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;cron;history'= {
            cand --limit 'At most so many'
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --json 'Print JSON, one object a line'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;cron;output'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;cron;next'= {
            cand --timezone 'The time zone whose clock is meant [default: the operator''s]'
            cand --from 'The instant after which the slots come, and from which intervals count [default: now]'
            cand --count 'So many'
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --json 'Print JSON, one object a line'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;cron;check'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --json 'Print JSON, one object a line'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;cron;help'= {
            cand list 'The jobs, the most urgent first'
            cand show 'One job: its definition, its next slots, its runs'
            cand add 'Make a job'
            cand edit 'Change fields of a job'
            cand pause 'Take no slot of a job until it is resumed'
            cand resume 'Take a job''s slots again'
            cand run 'Run a job now, beside its slots'
            cand remove 'Take a job out of jobs.json'
            cand history 'What became of the slots, newest first'
            cand output 'The output document of a run'
            cand next 'The next slots of a schedule, one a line; what it means and its traps on standard error'
            cand check 'Check a jobs.json: what is wrong with each job, and its next five slots'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'switchboard;cron;help;list'= {
        }
        &'switchboard;cron;help;show'= {
        }
        &'switchboard;cron;help;add'= {
        }
        &'switchboard;cron;help;edit'= {
        }
        &'switchboard;cron;help;pause'= {
        }
        &'switchboard;cron;help;resume'= {
        }
        &'switchboard;cron;help;run'= {
        }
        &'switchboard;cron;help;remove'= {
        }
        &'switchboard;cron;help;history'= {
        }
        &'switchboard;cron;help;output'= {
        }
        &'switchboard;cron;help;next'= {
        }
        &'switchboard;cron;help;check'= {
        }
        &'switchboard;cron;help;help'= {
        }
        &'switchboard;events'= {
            cand --after 'Everything after this event; without it the newest'
            cand --level 'At least this much: debug, info, warn, error'
            cand --session 'Only of this session: a key, a name, a title, or an id'
            cand --limit 'How many of the newest'
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand -f 'Go on and print events as they come'
            cand --follow 'Go on and print events as they come'
            cand --json 'Print JSON, one object a line'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;suspend'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;unsuspend'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;continue'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;hold'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;release'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;stop'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;restart'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --yes 'Don''t ask, though one more cut would suspend a session that runs'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;config'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
            cand check 'Tell what is wrong in config.toml and keymap.toml, with file and line'
            cand path 'Print where config.toml is'
            cand print 'Print the values that apply, and which of them the file sets'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'switchboard;config;check'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;config;path'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;config;print'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --json 'Print JSON, one object a line'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;config;help'= {
            cand check 'Tell what is wrong in config.toml and keymap.toml, with file and line'
            cand path 'Print where config.toml is'
            cand print 'Print the values that apply, and which of them the file sets'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'switchboard;config;help;check'= {
        }
        &'switchboard;config;help;path'= {
        }
        &'switchboard;config;help;print'= {
        }
        &'switchboard;config;help;help'= {
        }
        &'switchboard;keymap'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --json 'Print JSON, one object a line'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;doctor'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --json 'Print JSON, one object a line'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;completions'= {
            cand --home 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]'
            cand --read-only 'Look only: refuse whatever changes something, and start no engine'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'switchboard;help'= {
            cand serve 'Run the engine without a screen; logs to standard error'
            cand status 'How the engine stands, and the counts'
            cand sessions 'The sessions, most urgent first'
            cand queue 'What waits and runs, in order'
            cand recovery 'What the last start found and did, session by session, and the starts before it'
            cand alerts 'What needs a person: open alerts, the last raised first'
            cand allowed 'What agents may run without asking for the rest of their sessions, since somebody said `always`'
            cand processes 'Background processes that agents started: those that run, then the last that ended'
            cand report 'What happened since a time: what failed, was cut off, resumed, given up, answered, and what it used'
            cand send 'Send a message or a slash command'
            cand conversation 'The conversations of host applications, and the state they share with their runtimes'
            cand cron 'Scheduled tasks'
            cand events 'What happened, oldest first; with --json sessions by their ids, else by their names'
            cand suspend 'Give a session up: its turn is stopped, its queue held, and its next message starts anew'
            cand unsuspend 'Take a suspension back: the session goes on with its history and its queue'
            cand continue 'Go on with a session: with what was cut off, and with its held queue'
            cand hold 'Nothing starts until `release`; messages are accepted and wait'
            cand release 'End the hold'
            cand stop 'Stop the engine: no turn begins, running ones get the drain''s time'
            cand restart 'Restart the engine: its process begins anew after the drain; what that cuts is resumed'
            cand config 'The settings; without a command as `print`'
            cand keymap 'The key map in effect: the shipped one with the changes of the home''s keymap.toml'
            cand doctor 'Examine the home, the settings, the scheduled tasks, the store, the agent and the terminal'
            cand completions 'Print the completions for a shell'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'switchboard;help;serve'= {
        }
        &'switchboard;help;status'= {
        }
        &'switchboard;help;sessions'= {
        }
        &'switchboard;help;queue'= {
        }
        &'switchboard;help;recovery'= {
        }
        &'switchboard;help;alerts'= {
            cand acknowledge 'Say that you know: the alert stays open, but is not counted and not told again'
        }
        &'switchboard;help;alerts;acknowledge'= {
        }
        &'switchboard;help;allowed'= {
            cand remove 'Take one back: the agent asks again'
        }
        &'switchboard;help;allowed;remove'= {
        }
        &'switchboard;help;processes'= {
        }
        &'switchboard;help;report'= {
        }
        &'switchboard;help;send'= {
        }
        &'switchboard;help;conversation'= {
            cand list 'All of them'
            cand show 'One of them, with its agent state'
            cand state 'Put the host''s agent state in place of the one before'
        }
        &'switchboard;help;conversation;list'= {
        }
        &'switchboard;help;conversation;show'= {
        }
        &'switchboard;help;conversation;state'= {
        }
        &'switchboard;help;cron'= {
            cand list 'The jobs, the most urgent first'
            cand show 'One job: its definition, its next slots, its runs'
            cand add 'Make a job'
            cand edit 'Change fields of a job'
            cand pause 'Take no slot of a job until it is resumed'
            cand resume 'Take a job''s slots again'
            cand run 'Run a job now, beside its slots'
            cand remove 'Take a job out of jobs.json'
            cand history 'What became of the slots, newest first'
            cand output 'The output document of a run'
            cand next 'The next slots of a schedule, one a line; what it means and its traps on standard error'
            cand check 'Check a jobs.json: what is wrong with each job, and its next five slots'
        }
        &'switchboard;help;cron;list'= {
        }
        &'switchboard;help;cron;show'= {
        }
        &'switchboard;help;cron;add'= {
        }
        &'switchboard;help;cron;edit'= {
        }
        &'switchboard;help;cron;pause'= {
        }
        &'switchboard;help;cron;resume'= {
        }
        &'switchboard;help;cron;run'= {
        }
        &'switchboard;help;cron;remove'= {
        }
        &'switchboard;help;cron;history'= {
        }
        &'switchboard;help;cron;output'= {
        }
        &'switchboard;help;cron;next'= {
        }
        &'switchboard;help;cron;check'= {
        }
        &'switchboard;help;events'= {
        }
        &'switchboard;help;suspend'= {
        }
        &'switchboard;help;unsuspend'= {
        }
        &'switchboard;help;continue'= {
        }
        &'switchboard;help;hold'= {
        }
        &'switchboard;help;release'= {
        }
        &'switchboard;help;stop'= {
        }
        &'switchboard;help;restart'= {
        }
        &'switchboard;help;config'= {
            cand check 'Tell what is wrong in config.toml and keymap.toml, with file and line'
            cand path 'Print where config.toml is'
            cand print 'Print the values that apply, and which of them the file sets'
        }
        &'switchboard;help;config;check'= {
        }
        &'switchboard;help;config;path'= {
        }
        &'switchboard;help;config;print'= {
        }
        &'switchboard;help;keymap'= {
        }
        &'switchboard;help;doctor'= {
        }
        &'switchboard;help;completions'= {
        }
        &'switchboard;help;help'= {
        }
    ]
    $completions[$command]
}
