//! The one who sends: talks to an engine until it dies, and remembers each acknowledgement.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use fastrand::Rng;
use rustix::process::Signal;
use switchboard::config::Home;
use switchboard::control::{Client, ClientError, SocketClient};
use switchboard::domain::api::{Answer, Command, Overview, Query, Reply};
use switchboard::domain::id::{SessionId, SessionKey};
use switchboard::domain::queue::{Gate, Intent, Source};
use switchboard::domain::session::SessionState;
use tokio::runtime::Runtime;
use tokio::time::{Instant, timeout_at};

use crate::checker::{Acknowledged, Before, check, check_rest};
use crate::support::program::{Place, Serve};

const KEYS: [&str; 3] = ["alpha", "beta", "gamma"];
/// The points that only an engine passes which was told to stop.
pub(crate) const ENDS_A_STOP: [&str; 3] = ["stop-before-drain", "stop-before-receipt", "stop-with-receipt"];
/// How many senders talk at the same time.
const SENDERS: usize = 3;
/// A life that no point ends is ended after so long.
const LONGEST_LIFE: Duration = Duration::from_millis(1500);

/// Answers at once, or works for a while.
const AGENT: &str = r#"
[agent]
backend = "command"
[agent.command]
argv = ["sh", "-c", "read -r words; case \"$words\" in *long*) sleep 2;; esac; echo \"to: $words\""]
[engine]
drain_timeout_seconds = 0
stop_grace_seconds = 1
[recovery]
boot_guard_starts = 100
"#;

/// When the engine dies.
pub(crate) enum Kill {
    /// So many milliseconds after it began to serve.
    After(u64),
    /// When it has passed a point so many times.
    At { point: &'static str, passes: u32 },
}

/// A home, those who send to its engine, and what they were told.
pub(crate) struct Driver {
    pub(crate) random: Rng,
    place: Place,
    runtime: Runtime,
    acknowledged: Vec<Acknowledged>,
    prepared: u64,
    /// How often the engine died at each point.
    pub(crate) met: BTreeMap<&'static str, u32>,
}

/// What one sender does.
#[derive(Debug, Clone)]
enum Act {
    Send { to: SessionKey, text: String, intent: Intent },
    Slash { to: SessionKey, text: &'static str },
    Unsuspend { key: SessionKey },
}

impl Driver {
    pub(crate) fn new(seed: u64) -> Self {
        let place = Place::new();
        place.write("config.toml", AGENT.as_bytes());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self {
            random: Rng::with_seed(seed),
            place,
            runtime,
            acknowledged: Vec::new(),
            prepared: 0,
            met: BTreeMap::new(),
        }
    }

    /// One life of an engine: started on hold, checked, released, talked to, killed, checked.
    pub(crate) fn life(&mut self, kill: &Kill) {
        let store = self.place.home().join("state.db");
        let before = Before::read(&store);
        let mut command = self.place.command(&["serve", "--hold"]);
        if let Kill::At { point, passes } = kill {
            command.env("SWITCHBOARD_FAILPOINTS", format!("{point}={passes}"));
        }
        match Serve::begin(command) {
            // Where the start itself is killed there is nobody to talk to.
            Err(end) => {
                assert!(was_killed(end), "the start failed: {end}");
                self.met(kill);
            }
            Ok(mut engine) => {
                if let Some(before) = &before {
                    before.check_start(&store);
                }
                self.talk(kill);
                if let Kill::At { .. } = kill {
                    engine.wait_at_most(LONGEST_LIFE);
                }
                if engine.has_ended().is_some_and(was_killed) {
                    self.met(kill);
                }
                engine.kill();
            }
        }
        check(&store, &self.acknowledged);
    }

    /// Lets everything that waits run, and checks that all of it ended once.
    pub(crate) fn come_to_rest(&mut self) {
        let engine = self.place.serve(&[]);
        let home = Home::resolve(Some(&self.place.home())).unwrap();
        self.runtime.block_on(rest(&home));
        engine.kill();
        let store = self.place.home().join("state.db");
        check(&store, &self.acknowledged);
        check_rest(&store, &self.acknowledged);
        println!("{} messages acknowledged; died at {:?}", self.acknowledged.len(), self.met);
    }

    fn met(&mut self, kill: &Kill) {
        if let Kill::At { point, .. } = kill {
            *self.met.entry(point).or_default() += 1;
        }
    }

    fn talk(&mut self, kill: &Kill) {
        let until = Instant::now()
            + match kill {
                Kill::After(milliseconds) => Duration::from_millis(*milliseconds),
                Kill::At { .. } => LONGEST_LIFE,
            };
        let stops = matches!(kill, Kill::At { point, .. } if ENDS_A_STOP.contains(point));
        let home = Home::resolve(Some(&self.place.home())).unwrap();
        let acts: Vec<Vec<Act>> = (0..SENDERS).map(|_| (0..200).map(|_| self.act()).collect()).collect();
        let told = self.runtime.block_on(async {
            let Ok(Some(client)) = SocketClient::connect(&home).await else { return Vec::new() };
            let _ = client.command(Command::Release).await;
            let stop = async {
                if stops {
                    tokio::time::sleep(Duration::from_millis(60)).await;
                    let _ = client.command(Command::Stop { why: "the test".to_owned() }).await;
                }
            };
            let mut told = vec![Vec::new(); SENDERS];
            let senders = told.iter_mut().zip(&acts).map(|(told, acts)| send(&client, acts, told));
            let _ = timeout_at(until, async { tokio::join!(futures_util::future::join_all(senders), stop) })
                .await;
            told.concat()
        });
        self.acknowledged.extend(told);
    }

    fn act(&mut self) -> Act {
        let to = SessionKey::local(KEYS[self.random.usize(..KEYS.len())]).unwrap();
        self.prepared += 1;
        let long = if self.random.u8(..12) == 0 { " long" } else { "" };
        let text = format!("message {}{long}", self.prepared);
        match self.random.u8(..20) {
            0 => Act::Slash { to, text: "/new!" },
            1 | 2 => Act::Slash { to, text: "/stop" },
            3 => Act::Slash { to, text: "/continue" },
            4 => Act::Unsuspend { key: to },
            5..12 => Act::Send { to, text, intent: Intent::Queue },
            _ => Act::Send { to, text, intent: Intent::Plain },
        }
    }
}

fn was_killed(end: ExitStatus) -> bool {
    end.signal() == Some(Signal::KILL.as_raw())
}

/// Sends until the engine is gone; keeps what was acknowledged.
async fn send(client: &SocketClient, acts: &[Act], told: &mut Vec<Acknowledged>) {
    for act in acts {
        let submit = |to: &SessionKey, text: &str, intent| Command::Submit {
            to: to.clone(),
            text: text.to_owned(),
            intent,
            source: Source::CommandLine,
        };
        let reply = match act {
            Act::Send { to, text, intent } => {
                let reply = client.command(submit(to, text, *intent)).await;
                if let Ok(Reply::Accepted { session, item, .. }) = &reply {
                    told.push(Acknowledged {
                        item: item.0,
                        session: session.to_string(),
                        text: text.clone(),
                        intent: *intent,
                    });
                }
                reply
            }
            Act::Slash { to, text } => client.command(submit(to, text, Intent::Plain)).await,
            Act::Unsuspend { key } => match row_at(client, key).await {
                Ok(Some(session)) => client.command(Command::Unsuspend { session }).await,
                Ok(None) => continue,
                Err(error) => Err(error),
            },
        };
        if let Err(ClientError::Gone(_) | ClientError::NoEngine) = reply {
            return;
        }
    }
}

async fn row_at(client: &SocketClient, key: &SessionKey) -> Result<Option<SessionId>, ClientError> {
    match client.query(Query::SessionAt { key: key.clone() }).await? {
        Answer::Session(row) => Ok(row.map(|row| row.session.id)),
        other => panic!("{other:?}"),
    }
}

/// Takes every hold away and waits until nothing runs and nothing waits.
async fn rest(home: &Home) {
    let client = SocketClient::connect(home).await.unwrap().unwrap();
    let mut updates = client.updates().await.unwrap();
    let _ = client.command(Command::Release).await;
    loop {
        let overview = overview(&client).await;
        if overview.running == 0 && overview.waiting == 0 && overview.engine.gate == Gate::Open {
            return;
        }
        let query = Query::Sessions { filter: String::new(), after: None, limit: 100 };
        let Answer::Sessions(page) = client.query(query).await.unwrap() else { panic!("no sessions") };
        for row in page.rows {
            let session = row.session.id;
            if row.state == SessionState::Suspended {
                client.command(Command::Unsuspend { session }).await.unwrap();
            } else if row.turn.is_none() && row.session.hold.is_some() {
                client.command(Command::Continue { session }).await.unwrap();
            }
        }
        updates.recv().await.unwrap();
    }
}

async fn overview(client: &SocketClient) -> Overview {
    match client.query(Query::Overview).await.unwrap() {
        Answer::Overview(overview) => *overview,
        other => panic!("{other:?}"),
    }
}
