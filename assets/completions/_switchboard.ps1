
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'switchboard' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'switchboard'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'switchboard' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Run the engine without a screen; logs to standard error')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'How the engine stands, and the counts')
            [CompletionResult]::new('sessions', 'sessions', [CompletionResultType]::ParameterValue, 'The sessions, most urgent first')
            [CompletionResult]::new('queue', 'queue', [CompletionResultType]::ParameterValue, 'What waits and runs, in order')
            [CompletionResult]::new('recovery', 'recovery', [CompletionResultType]::ParameterValue, 'What the last start found and did, session by session, and the starts before it')
            [CompletionResult]::new('alerts', 'alerts', [CompletionResultType]::ParameterValue, 'What needs a person: open alerts, the last raised first')
            [CompletionResult]::new('allowed', 'allowed', [CompletionResultType]::ParameterValue, 'What agents may run without asking for the rest of their sessions, since somebody said `always`')
            [CompletionResult]::new('processes', 'processes', [CompletionResultType]::ParameterValue, 'Background processes that agents started: those that run, then the last that ended')
            [CompletionResult]::new('report', 'report', [CompletionResultType]::ParameterValue, 'What happened since a time: what failed, was cut off, resumed, given up, answered, and what it used')
            [CompletionResult]::new('send', 'send', [CompletionResultType]::ParameterValue, 'Send a message or a slash command')
            [CompletionResult]::new('conversation', 'conversation', [CompletionResultType]::ParameterValue, 'The conversations of host applications, and the state they share with their runtimes')
            [CompletionResult]::new('cron', 'cron', [CompletionResultType]::ParameterValue, 'Scheduled tasks')
            [CompletionResult]::new('events', 'events', [CompletionResultType]::ParameterValue, 'What happened, oldest first; with --json sessions by their ids, else by their names')
            [CompletionResult]::new('suspend', 'suspend', [CompletionResultType]::ParameterValue, 'Give a session up: its turn is stopped, its queue held, and its next message starts anew')
            [CompletionResult]::new('unsuspend', 'unsuspend', [CompletionResultType]::ParameterValue, 'Take a suspension back: the session goes on with its history and its queue')
            [CompletionResult]::new('continue', 'continue', [CompletionResultType]::ParameterValue, 'Go on with a session: with what was cut off, and with its held queue')
            [CompletionResult]::new('hold', 'hold', [CompletionResultType]::ParameterValue, 'Nothing starts until `release`; messages are accepted and wait')
            [CompletionResult]::new('release', 'release', [CompletionResultType]::ParameterValue, 'End the hold')
            [CompletionResult]::new('stop', 'stop', [CompletionResultType]::ParameterValue, 'Stop the engine: no turn begins, running ones get the drain''s time')
            [CompletionResult]::new('restart', 'restart', [CompletionResultType]::ParameterValue, 'Restart the engine: its process begins anew after the drain; what that cuts is resumed')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'The settings; without a command as `print`')
            [CompletionResult]::new('keymap', 'keymap', [CompletionResultType]::ParameterValue, 'The key map in effect: the shipped one with the changes of the home''s keymap.toml')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Examine the home, the settings, the scheduled tasks, the store, the agent and the terminal')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completions for a shell')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'switchboard;serve' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--hold', '--hold', [CompletionResultType]::ParameterName, 'Begin on hold: nothing starts until `switchboard release`')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'switchboard;status' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON, one object a line')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;sessions' {
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'At most so many')
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--ended', '--ended', [CompletionResultType]::ParameterName, 'Those that have ended too, the last active first')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON, one object a line')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;queue' {
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Only of this session, with what was put aside lately: a key, a name, a title, or an id')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'At most so many')
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON, one object a line')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;recovery' {
            [CompletionResult]::new('--start', '--start', [CompletionResultType]::ParameterName, 'What this start did: its run, or the beginning of it')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'At most so many starts, and so many sessions')
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON, one object a line')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;alerts' {
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'At most so many')
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON, one object a line')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('acknowledge', 'acknowledge', [CompletionResultType]::ParameterValue, 'Say that you know: the alert stays open, but is not counted and not told again')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'switchboard;alerts;acknowledge' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;alerts;help' {
            [CompletionResult]::new('acknowledge', 'acknowledge', [CompletionResultType]::ParameterValue, 'Say that you know: the alert stays open, but is not counted and not told again')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'switchboard;alerts;help;acknowledge' {
            break
        }
        'switchboard;alerts;help;help' {
            break
        }
        'switchboard;allowed' {
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Only in this session: a key, a name, a title, an id or the beginning of one')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'At most so many')
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON, one object a line')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Take one back: the agent asks again')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'switchboard;allowed;remove' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;allowed;help' {
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Take one back: the agent asks again')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'switchboard;allowed;help;remove' {
            break
        }
        'switchboard;allowed;help;help' {
            break
        }
        'switchboard;processes' {
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'At most so many')
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON, one object a line')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;report' {
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'A time (2026-11-29T14:00:00Z) or how long ago (90s, 30min, 8h, 2d) [default: when a console was last used, or a day ago if it was used since]')
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON, one object a line')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;send' {
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'The session: a key, or the name of a local session, which is made if there is none [default: console]')
            [CompletionResult]::new('--conversation', '--conversation', [CompletionResultType]::ParameterName, 'A host application''s conversation: the same id has the same session for ever')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The conversation''s user, where each has a session of his own')
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--queue', '--queue', [CompletionResultType]::ParameterName, 'Add it to the queue: a turn of its own, in order')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Print the answer as it comes, and wait until its turn has ended')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON, one object a line')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;conversation' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'All of them')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'One of them, with its agent state')
            [CompletionResult]::new('state', 'state', [CompletionResultType]::ParameterValue, 'Put the host''s agent state in place of the one before')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'switchboard;conversation;list' {
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'At most so many')
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON, one object a line')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;conversation;show' {
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Its user, where each has a session of his own')
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON, one object a line')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;conversation;state' {
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Its user, where each has a session of his own')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'A file with the state, a JSON object; it is kept byte for byte')
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;conversation;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'All of them')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'One of them, with its agent state')
            [CompletionResult]::new('state', 'state', [CompletionResultType]::ParameterValue, 'Put the host''s agent state in place of the one before')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'switchboard;conversation;help;list' {
            break
        }
        'switchboard;conversation;help;show' {
            break
        }
        'switchboard;conversation;help;state' {
            break
        }
        'switchboard;conversation;help;help' {
            break
        }
        'switchboard;cron' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'The jobs, the most urgent first')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'One job: its definition, its next slots, its runs')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Make a job')
            [CompletionResult]::new('edit', 'edit', [CompletionResultType]::ParameterValue, 'Change fields of a job')
            [CompletionResult]::new('pause', 'pause', [CompletionResultType]::ParameterValue, 'Take no slot of a job until it is resumed')
            [CompletionResult]::new('resume', 'resume', [CompletionResultType]::ParameterValue, 'Take a job''s slots again')
            [CompletionResult]::new('run', 'run', [CompletionResultType]::ParameterValue, 'Run a job now, beside its slots')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Take a job out of jobs.json')
            [CompletionResult]::new('history', 'history', [CompletionResultType]::ParameterValue, 'What became of the slots, newest first')
            [CompletionResult]::new('output', 'output', [CompletionResultType]::ParameterValue, 'The output document of a run')
            [CompletionResult]::new('next', 'next', [CompletionResultType]::ParameterValue, 'The next slots of a schedule, one a line; what it means and its traps on standard error')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Check a jobs.json: what is wrong with each job, and its next five slots')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'switchboard;cron;list' {
            [CompletionResult]::new('--filter', '--filter', [CompletionResultType]::ParameterName, 'Only those whose id, name or state contain it')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'At most so many')
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON, one object a line')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;cron;show' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON, one object a line')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;cron;add' {
            [CompletionResult]::new('--id', '--id', [CompletionResultType]::ParameterName, 'its name: letters, digits, . _ -')
            [CompletionResult]::new('--name', '--name', [CompletionResultType]::ParameterName, 'its name for people')
            [CompletionResult]::new('--timezone', '--timezone', [CompletionResultType]::ParameterName, 'the zone of its wall-clock times, like Europe/Berlin')
            [CompletionResult]::new('--description', '--description', [CompletionResultType]::ParameterName, 'what it is for; also the prompt where there is none')
            [CompletionResult]::new('--skills', '--skills', [CompletionResultType]::ParameterName, 'the skills that are loaded, in order')
            [CompletionResult]::new('--deliver-to', '--deliver-to', [CompletionResultType]::ParameterName, 'who gets the result: local, console, telegram:CHAT:THREAD')
            [CompletionResult]::new('--enabled', '--enabled', [CompletionResultType]::ParameterName, 'whether its slots are taken; no pauses it')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'how often it fires in all; empty: for ever')
            [CompletionResult]::new('--misfire', '--misfire', [CompletionResultType]::ParameterName, 'what becomes of slots that were missed')
            [CompletionResult]::new('--overlap', '--overlap', [CompletionResultType]::ParameterName, 'what happens at a slot while an earlier run still works')
            [CompletionResult]::new('--jitter-seconds', '--jitter-seconds', [CompletionResultType]::ParameterName, 'up to so many seconds its fires are set off from their slot')
            [CompletionResult]::new('--script', '--script', [CompletionResultType]::ParameterName, 'a program in scripts/ that runs first')
            [CompletionResult]::new('--no-agent', '--no-agent', [CompletionResultType]::ParameterName, 'whether the script''s output is the result, without any agent')
            [CompletionResult]::new('--context-from', '--context-from', [CompletionResultType]::ParameterName, 'the jobs whose newest output goes into the prompt')
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'the agent that runs it, by its name in the settings')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'the model, as the agent''s server knows it')
            [CompletionResult]::new('--workdir', '--workdir', [CompletionResultType]::ParameterName, 'the folder in which it works; an absolute path')
            [CompletionResult]::new('--timeout-minutes', '--timeout-minutes', [CompletionResultType]::ParameterName, 'after so many minutes a run is stopped; empty: never')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'whether each run begins with an empty memory')
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;cron;edit' {
            [CompletionResult]::new('--id', '--id', [CompletionResultType]::ParameterName, 'its name: letters, digits, . _ -')
            [CompletionResult]::new('--name', '--name', [CompletionResultType]::ParameterName, 'its name for people')
            [CompletionResult]::new('--schedule', '--schedule', [CompletionResultType]::ParameterName, 'when it is due: "0 8 * * *", "weekdays at 9:30", "every 2h"')
            [CompletionResult]::new('--timezone', '--timezone', [CompletionResultType]::ParameterName, 'the zone of its wall-clock times, like Europe/Berlin')
            [CompletionResult]::new('--description', '--description', [CompletionResultType]::ParameterName, 'what it is for; also the prompt where there is none')
            [CompletionResult]::new('--prompt', '--prompt', [CompletionResultType]::ParameterName, 'what the agent is told')
            [CompletionResult]::new('--skills', '--skills', [CompletionResultType]::ParameterName, 'the skills that are loaded, in order')
            [CompletionResult]::new('--deliver-to', '--deliver-to', [CompletionResultType]::ParameterName, 'who gets the result: local, console, telegram:CHAT:THREAD')
            [CompletionResult]::new('--enabled', '--enabled', [CompletionResultType]::ParameterName, 'whether its slots are taken; no pauses it')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'how often it fires in all; empty: for ever')
            [CompletionResult]::new('--misfire', '--misfire', [CompletionResultType]::ParameterName, 'what becomes of slots that were missed')
            [CompletionResult]::new('--overlap', '--overlap', [CompletionResultType]::ParameterName, 'what happens at a slot while an earlier run still works')
            [CompletionResult]::new('--jitter-seconds', '--jitter-seconds', [CompletionResultType]::ParameterName, 'up to so many seconds its fires are set off from their slot')
            [CompletionResult]::new('--script', '--script', [CompletionResultType]::ParameterName, 'a program in scripts/ that runs first')
            [CompletionResult]::new('--no-agent', '--no-agent', [CompletionResultType]::ParameterName, 'whether the script''s output is the result, without any agent')
            [CompletionResult]::new('--context-from', '--context-from', [CompletionResultType]::ParameterName, 'the jobs whose newest output goes into the prompt')
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'the agent that runs it, by its name in the settings')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'the model, as the agent''s server knows it')
            [CompletionResult]::new('--workdir', '--workdir', [CompletionResultType]::ParameterName, 'the folder in which it works; an absolute path')
            [CompletionResult]::new('--timeout-minutes', '--timeout-minutes', [CompletionResultType]::ParameterName, 'after so many minutes a run is stopped; empty: never')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'whether each run begins with an empty memory')
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;cron;pause' {
            [CompletionResult]::new('--why', '--why', [CompletionResultType]::ParameterName, 'Why, for whoever finds it')
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;cron;resume' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;cron;run' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--count', '--count', [CompletionResultType]::ParameterName, 'Count the run for the job''s repeat')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait for the run''s end; a run that does not succeed exits with 1')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;cron;remove' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;cron;history' {
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'At most so many')
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON, one object a line')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;cron;output' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;cron;next' {
            [CompletionResult]::new('--timezone', '--timezone', [CompletionResultType]::ParameterName, 'The time zone whose clock is meant [default: the operator''s]')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'The instant after which the slots come, and from which intervals count [default: now]')
            [CompletionResult]::new('--count', '--count', [CompletionResultType]::ParameterName, 'So many')
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON, one object a line')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;cron;check' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON, one object a line')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;cron;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'The jobs, the most urgent first')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'One job: its definition, its next slots, its runs')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Make a job')
            [CompletionResult]::new('edit', 'edit', [CompletionResultType]::ParameterValue, 'Change fields of a job')
            [CompletionResult]::new('pause', 'pause', [CompletionResultType]::ParameterValue, 'Take no slot of a job until it is resumed')
            [CompletionResult]::new('resume', 'resume', [CompletionResultType]::ParameterValue, 'Take a job''s slots again')
            [CompletionResult]::new('run', 'run', [CompletionResultType]::ParameterValue, 'Run a job now, beside its slots')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Take a job out of jobs.json')
            [CompletionResult]::new('history', 'history', [CompletionResultType]::ParameterValue, 'What became of the slots, newest first')
            [CompletionResult]::new('output', 'output', [CompletionResultType]::ParameterValue, 'The output document of a run')
            [CompletionResult]::new('next', 'next', [CompletionResultType]::ParameterValue, 'The next slots of a schedule, one a line; what it means and its traps on standard error')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Check a jobs.json: what is wrong with each job, and its next five slots')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'switchboard;cron;help;list' {
            break
        }
        'switchboard;cron;help;show' {
            break
        }
        'switchboard;cron;help;add' {
            break
        }
        'switchboard;cron;help;edit' {
            break
        }
        'switchboard;cron;help;pause' {
            break
        }
        'switchboard;cron;help;resume' {
            break
        }
        'switchboard;cron;help;run' {
            break
        }
        'switchboard;cron;help;remove' {
            break
        }
        'switchboard;cron;help;history' {
            break
        }
        'switchboard;cron;help;output' {
            break
        }
        'switchboard;cron;help;next' {
            break
        }
        'switchboard;cron;help;check' {
            break
        }
        'switchboard;cron;help;help' {
            break
        }
        'switchboard;events' {
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'Everything after this event; without it the newest')
            [CompletionResult]::new('--level', '--level', [CompletionResultType]::ParameterName, 'At least this much: debug, info, warn, error')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Only of this session: a key, a name, a title, or an id')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'How many of the newest')
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Go on and print events as they come')
            [CompletionResult]::new('--follow', '--follow', [CompletionResultType]::ParameterName, 'Go on and print events as they come')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON, one object a line')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;suspend' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;unsuspend' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;continue' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;hold' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;release' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;stop' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;restart' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Don''t ask, though one more cut would suspend a session that runs')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;config' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Tell what is wrong in config.toml and keymap.toml, with file and line')
            [CompletionResult]::new('path', 'path', [CompletionResultType]::ParameterValue, 'Print where config.toml is')
            [CompletionResult]::new('print', 'print', [CompletionResultType]::ParameterValue, 'Print the values that apply, and which of them the file sets')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'switchboard;config;check' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;config;path' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;config;print' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON, one object a line')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;config;help' {
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Tell what is wrong in config.toml and keymap.toml, with file and line')
            [CompletionResult]::new('path', 'path', [CompletionResultType]::ParameterValue, 'Print where config.toml is')
            [CompletionResult]::new('print', 'print', [CompletionResultType]::ParameterValue, 'Print the values that apply, and which of them the file sets')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'switchboard;config;help;check' {
            break
        }
        'switchboard;config;help;path' {
            break
        }
        'switchboard;config;help;print' {
            break
        }
        'switchboard;config;help;help' {
            break
        }
        'switchboard;keymap' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON, one object a line')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;doctor' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON, one object a line')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;completions' {
            [CompletionResult]::new('--home', '--home', [CompletionResultType]::ParameterName, 'The home folder: settings, store, logs [default: $SWITCHBOARD_HOME, else ~/.switchboard]')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Look only: refuse whatever changes something, and start no engine')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'switchboard;help' {
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Run the engine without a screen; logs to standard error')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'How the engine stands, and the counts')
            [CompletionResult]::new('sessions', 'sessions', [CompletionResultType]::ParameterValue, 'The sessions, most urgent first')
            [CompletionResult]::new('queue', 'queue', [CompletionResultType]::ParameterValue, 'What waits and runs, in order')
            [CompletionResult]::new('recovery', 'recovery', [CompletionResultType]::ParameterValue, 'What the last start found and did, session by session, and the starts before it')
            [CompletionResult]::new('alerts', 'alerts', [CompletionResultType]::ParameterValue, 'What needs a person: open alerts, the last raised first')
            [CompletionResult]::new('allowed', 'allowed', [CompletionResultType]::ParameterValue, 'What agents may run without asking for the rest of their sessions, since somebody said `always`')
            [CompletionResult]::new('processes', 'processes', [CompletionResultType]::ParameterValue, 'Background processes that agents started: those that run, then the last that ended')
            [CompletionResult]::new('report', 'report', [CompletionResultType]::ParameterValue, 'What happened since a time: what failed, was cut off, resumed, given up, answered, and what it used')
            [CompletionResult]::new('send', 'send', [CompletionResultType]::ParameterValue, 'Send a message or a slash command')
            [CompletionResult]::new('conversation', 'conversation', [CompletionResultType]::ParameterValue, 'The conversations of host applications, and the state they share with their runtimes')
            [CompletionResult]::new('cron', 'cron', [CompletionResultType]::ParameterValue, 'Scheduled tasks')
            [CompletionResult]::new('events', 'events', [CompletionResultType]::ParameterValue, 'What happened, oldest first; with --json sessions by their ids, else by their names')
            [CompletionResult]::new('suspend', 'suspend', [CompletionResultType]::ParameterValue, 'Give a session up: its turn is stopped, its queue held, and its next message starts anew')
            [CompletionResult]::new('unsuspend', 'unsuspend', [CompletionResultType]::ParameterValue, 'Take a suspension back: the session goes on with its history and its queue')
            [CompletionResult]::new('continue', 'continue', [CompletionResultType]::ParameterValue, 'Go on with a session: with what was cut off, and with its held queue')
            [CompletionResult]::new('hold', 'hold', [CompletionResultType]::ParameterValue, 'Nothing starts until `release`; messages are accepted and wait')
            [CompletionResult]::new('release', 'release', [CompletionResultType]::ParameterValue, 'End the hold')
            [CompletionResult]::new('stop', 'stop', [CompletionResultType]::ParameterValue, 'Stop the engine: no turn begins, running ones get the drain''s time')
            [CompletionResult]::new('restart', 'restart', [CompletionResultType]::ParameterValue, 'Restart the engine: its process begins anew after the drain; what that cuts is resumed')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'The settings; without a command as `print`')
            [CompletionResult]::new('keymap', 'keymap', [CompletionResultType]::ParameterValue, 'The key map in effect: the shipped one with the changes of the home''s keymap.toml')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Examine the home, the settings, the scheduled tasks, the store, the agent and the terminal')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completions for a shell')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'switchboard;help;serve' {
            break
        }
        'switchboard;help;status' {
            break
        }
        'switchboard;help;sessions' {
            break
        }
        'switchboard;help;queue' {
            break
        }
        'switchboard;help;recovery' {
            break
        }
        'switchboard;help;alerts' {
            [CompletionResult]::new('acknowledge', 'acknowledge', [CompletionResultType]::ParameterValue, 'Say that you know: the alert stays open, but is not counted and not told again')
            break
        }
        'switchboard;help;alerts;acknowledge' {
            break
        }
        'switchboard;help;allowed' {
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Take one back: the agent asks again')
            break
        }
        'switchboard;help;allowed;remove' {
            break
        }
        'switchboard;help;processes' {
            break
        }
        'switchboard;help;report' {
            break
        }
        'switchboard;help;send' {
            break
        }
        'switchboard;help;conversation' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'All of them')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'One of them, with its agent state')
            [CompletionResult]::new('state', 'state', [CompletionResultType]::ParameterValue, 'Put the host''s agent state in place of the one before')
            break
        }
        'switchboard;help;conversation;list' {
            break
        }
        'switchboard;help;conversation;show' {
            break
        }
        'switchboard;help;conversation;state' {
            break
        }
        'switchboard;help;cron' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'The jobs, the most urgent first')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'One job: its definition, its next slots, its runs')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Make a job')
            [CompletionResult]::new('edit', 'edit', [CompletionResultType]::ParameterValue, 'Change fields of a job')
            [CompletionResult]::new('pause', 'pause', [CompletionResultType]::ParameterValue, 'Take no slot of a job until it is resumed')
            [CompletionResult]::new('resume', 'resume', [CompletionResultType]::ParameterValue, 'Take a job''s slots again')
            [CompletionResult]::new('run', 'run', [CompletionResultType]::ParameterValue, 'Run a job now, beside its slots')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Take a job out of jobs.json')
            [CompletionResult]::new('history', 'history', [CompletionResultType]::ParameterValue, 'What became of the slots, newest first')
            [CompletionResult]::new('output', 'output', [CompletionResultType]::ParameterValue, 'The output document of a run')
            [CompletionResult]::new('next', 'next', [CompletionResultType]::ParameterValue, 'The next slots of a schedule, one a line; what it means and its traps on standard error')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Check a jobs.json: what is wrong with each job, and its next five slots')
            break
        }
        'switchboard;help;cron;list' {
            break
        }
        'switchboard;help;cron;show' {
            break
        }
        'switchboard;help;cron;add' {
            break
        }
        'switchboard;help;cron;edit' {
            break
        }
        'switchboard;help;cron;pause' {
            break
        }
        'switchboard;help;cron;resume' {
            break
        }
        'switchboard;help;cron;run' {
            break
        }
        'switchboard;help;cron;remove' {
            break
        }
        'switchboard;help;cron;history' {
            break
        }
        'switchboard;help;cron;output' {
            break
        }
        'switchboard;help;cron;next' {
            break
        }
        'switchboard;help;cron;check' {
            break
        }
        'switchboard;help;events' {
            break
        }
        'switchboard;help;suspend' {
            break
        }
        'switchboard;help;unsuspend' {
            break
        }
        'switchboard;help;continue' {
            break
        }
        'switchboard;help;hold' {
            break
        }
        'switchboard;help;release' {
            break
        }
        'switchboard;help;stop' {
            break
        }
        'switchboard;help;restart' {
            break
        }
        'switchboard;help;config' {
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Tell what is wrong in config.toml and keymap.toml, with file and line')
            [CompletionResult]::new('path', 'path', [CompletionResultType]::ParameterValue, 'Print where config.toml is')
            [CompletionResult]::new('print', 'print', [CompletionResultType]::ParameterValue, 'Print the values that apply, and which of them the file sets')
            break
        }
        'switchboard;help;config;check' {
            break
        }
        'switchboard;help;config;path' {
            break
        }
        'switchboard;help;config;print' {
            break
        }
        'switchboard;help;keymap' {
            break
        }
        'switchboard;help;doctor' {
            break
        }
        'switchboard;help;completions' {
            break
        }
        'switchboard;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
