//! The outbox in virtual time: a store and a client that answer as they are told, and what follows.

use std::collections::BTreeMap;

use proptest::prelude::*;
use steadfetch::core::outbox::{
    Cause, Change, Command, Limits, Look, Outbox, Outcome, Phase, Refusal, Stored, Turn, View, stamps,
};
use steadfetch::core::time::{Clock, Instant, Span};

const WEEK: f64 = 604_800_000.0;

const fn limits() -> Limits {
    Limits {
        max_age: Span::from_secs(604_800),
        max_entries: 10_000,
        max_bytes: 50_000_000,
        stop_on_rejected: false,
    }
}

const fn entry(id: u64, queue: &str) -> Stored<'_> {
    Stored { id, queue, bytes: 1, age: Span::ZERO, wait: Span::ZERO, rejected: false }
}

/// A tab with the store and the client around its outbox.
struct Tab {
    outbox: Outbox,
    now: f64,
    /// How far the other clock is behind.
    behind: f64,
    /// What each look finds, and whether each write succeeds; `None` keeps it waiting.
    look: Option<Look>,
    write: Option<bool>,
    looks: Vec<Turn>,
    writes: Vec<(Turn, Change)>,
    /// Requests that are out.
    out: Vec<Turn>,
    log: Vec<(f64, Command)>,
}

impl Tab {
    /// The sender, with a store that works.
    fn new(limits: Limits) -> Self {
        let mut tab = Self {
            outbox: Outbox::new(limits, 1),
            now: 0.0,
            behind: 0.0,
            look: Some(Look::Found),
            write: Some(true),
            looks: Vec::new(),
            writes: Vec::new(),
            out: Vec::new(),
            log: Vec::new(),
        };
        tab.does(|outbox| outbox.set_sender(true, false));
        tab
    }

    /// With so many entries of the queue "a", whose slots are 0, 1, 2...
    fn with(entries: u64) -> Self {
        let mut tab = Self::new(limits());
        for id in 0..entries {
            tab.add(id, "a");
        }
        tab
    }

    /// Tells the outbox something and carries out what it commands.
    fn does<T>(&mut self, act: impl FnOnce(&mut Outbox) -> T) -> T {
        self.outbox.advance(Instant::from_ms(self.now), Instant::from_ms(self.now - self.behind));
        let result = act(&mut self.outbox);
        loop {
            let mut commands = Vec::new();
            self.outbox.take_commands(&mut commands);
            if commands.is_empty() {
                return result;
            }
            for command in commands {
                self.log.push((self.now, command));
                match (command, self.look, self.write) {
                    (Command::Look(turn), Some(look), _) => self.outbox.looked(turn, look),
                    (Command::Look(turn), None, _) => self.looks.push(turn),
                    (Command::Write(turn, _), _, Some(written)) => self.outbox.wrote(turn, written),
                    (Command::Write(turn, change), _, None) => self.writes.push((turn, change)),
                    (Command::Send(turn), ..) => self.out.push(turn),
                    (Command::Abort(turn), ..) => self.out.retain(|other| *other != turn),
                    _ => {}
                }
            }
        }
    }

    fn add(&mut self, id: u64, queue: &str) -> u32 {
        self.does(|outbox| outbox.add(entry(id, queue)))
    }

    fn turn(&self, slot: u32) -> Turn {
        *self.out.iter().rfind(|turn| turn.slot == slot).expect("it is out")
    }

    fn phase(&mut self, slot: u32, phase: Phase) {
        let turn = self.turn(slot);
        self.does(|outbox| outbox.phase(turn, phase));
    }

    fn ends(&mut self, slot: u32, outcome: Outcome, hint: f64) {
        let turn = self.turn(slot);
        self.out.retain(|other| *other != turn);
        self.does(|outbox| outbox.ended(turn, outcome, Span::from_ms(hint)));
    }

    fn answer(&mut self, slot: u32, status: u16) {
        self.ends(slot, Outcome::Answer(status), 0.0);
    }

    fn looked(&mut self, look: Look) {
        let turn = self.looks.remove(0);
        self.does(|outbox| outbox.looked(turn, look));
    }

    fn wrote(&mut self, written: bool) {
        let (turn, _) = self.writes.remove(0);
        self.does(|outbox| outbox.wrote(turn, written));
    }

    /// Time goes on, and the timer is kept.
    fn pass(&mut self, ms: f64) {
        let end = self.now + ms;
        while let Some(left) = self.outbox.next_timeout().filter(|left| self.now + left.as_ms() <= end) {
            self.now += left.as_ms();
            self.does(Outbox::wake);
        }
        self.now = end;
        self.does(Outbox::wake);
    }

    fn view(&self, slot: u32) -> View {
        self.outbox.view(slot).expect("it is there")
    }

    /// The slots of what is out, in the order in which it was sent.
    fn slots(&self) -> Vec<u32> {
        self.out.iter().map(|turn| turn.slot).collect()
    }

    /// When which slot was sent.
    fn sent(&self) -> Vec<(f64, u32)> {
        let sends = self.log.iter().filter_map(|(at, command)| match command {
            Command::Send(turn) => Some((*at, turn.slot)),
            _ => None,
        });
        sends.collect()
    }

    fn over(&self) -> Vec<(u32, Change)> {
        let ends = self.log.iter().filter_map(|(_, command)| match command {
            Command::Over(slot, change) => Some((*slot, *change)),
            _ => None,
        });
        ends.collect()
    }

    fn written(&self) -> Vec<Change> {
        let writes = self.log.iter().filter_map(|(_, command)| match command {
            Command::Write(_, change) => Some(*change),
            _ => None,
        });
        writes.collect()
    }

    fn has(&self, command: Command) -> bool {
        self.log.iter().any(|(_, other)| *other == command)
    }

    /// Nothing that an outbox is made of has changed.
    fn assert_same(&mut self, act: impl FnOnce(&mut Outbox)) {
        let before = format!("{:?}", self.outbox);
        act(&mut self.outbox);
        assert_eq!(format!("{:?}", self.outbox), before);
    }
}

fn until(ms: f64, cause: Cause) -> Phase {
    Phase::Waiting { until: Instant::from_ms(ms), cause }
}

const fn is_waiting(view: View) -> bool {
    matches!(view, View::Waiting { .. })
}

// ------------------------------------------------------------ order

#[test]
fn a_queue_is_sent_one_by_one_in_the_order_of_its_ids() {
    let mut tab = Tab::new(limits());
    tab.look = None;
    for id in [3, 1, 2] {
        tab.add(id, "a");
    }
    // Whoever was alone then is looked up again, once it is known that it is not the first.
    tab.looked(Look::Another);
    tab.look = Some(Look::Found);
    tab.looked(Look::Found);
    for slot in [1, 2, 0] {
        assert_eq!(tab.slots(), [slot]);
        tab.pass(60_000.0);
        tab.answer(slot, 200);
    }
    assert_eq!(tab.over(), [1, 2, 0].map(|slot| (slot, Change::Deliver)));
    assert!(tab.outbox.is_empty());
    assert_eq!(tab.outbox.next_timeout(), None);
}

#[test]
fn what_waits_hangs_or_is_offline_holds_up_its_own_queue_alone() {
    let hold: [fn(&mut Tab); 4] = [
        |tab| tab.answer(0, 503),
        |_| {},
        |tab| tab.phase(0, Phase::Offline),
        |tab| tab.phase(0, until(1e9, Cause::Circuit)),
    ];
    for hold in hold {
        let mut tab = Tab::with(2);
        hold(&mut tab);
        for id in 2..5 {
            let slot = tab.add(id, "b");
            assert_eq!(tab.slots().last(), Some(&slot));
            tab.answer(slot, 200);
        }
        assert_eq!(tab.sent().iter().map(|(_, slot)| *slot).collect::<Vec<_>>(), [0, 2, 2, 2]);
    }
}

#[test]
fn sixteen_heads_are_begun_at_once_and_the_next_when_one_of_them_is_over() {
    let mut tab = Tab::new(limits());
    for id in 0..20 {
        tab.add(id, &id.to_string());
    }
    assert_eq!(tab.slots().len(), 16);
    assert!(!tab.outbox.is_quiet());
    tab.answer(3, 200);
    assert_eq!(tab.slots().len(), 16);
    tab.phase(5, Phase::Offline);
    assert_eq!(tab.slots().len(), 17);
    assert_eq!(tab.sent().iter().map(|(_, slot)| *slot).collect::<Vec<_>>(), (0..18).collect::<Vec<_>>());
}

#[test]
fn sixteen_heads_that_hang_hold_up_nobody_for_more_than_five_seconds() {
    let mut tab = Tab::new(limits());
    for id in 0..40 {
        tab.add(id, &id.to_string());
    }
    tab.pass(4_999.0);
    assert_eq!(tab.slots().len(), 16);
    tab.pass(1.0);
    assert_eq!(tab.slots().len(), 32);
    tab.pass(5_000.0);
    assert_eq!(tab.slots().len(), 40);
}

#[test]
fn ten_thousand_entries_are_delivered_in_their_order() {
    let mut tab = Tab::new(limits());
    for id in 0..10_000 {
        tab.add(id, ["a", "b", "c"][(id % 3) as usize]);
    }
    while let Some(turn) = tab.out.first().copied() {
        tab.answer(turn.slot, 200);
    }
    let of = |rest| -> Vec<u32> {
        tab.over().iter().map(|(slot, _)| *slot).filter(|slot| slot % 3 == rest).collect()
    };
    assert_eq!(tab.outbox.len(), 0);
    for rest in 0..3 {
        assert_eq!(of(rest), (0..10_000).filter(|slot| slot % 3 == rest).collect::<Vec<_>>());
    }
}

// ------------------------------------------------------------ who sends

#[test]
fn nothing_is_looked_up_by_a_tab_that_is_not_the_sender() {
    let mut tab = Tab::with(0);
    tab.does(|outbox| outbox.set_sender(false, false));
    tab.add(1, "a");
    tab.pass(WEEK * 2.0);
    assert!(tab.log.is_empty());
    assert_eq!(tab.outbox.next_timeout(), None);
    tab.does(|outbox| outbox.set_sender(true, false));
    assert_eq!(tab.over(), [(0, Change::Expire)]);
}

#[test]
fn a_tab_that_becomes_the_sender_begins_with_each_head() {
    let mut tab = Tab::with(0);
    tab.does(|outbox| outbox.set_sender(false, false));
    for (id, queue) in [(1, "a"), (2, "a"), (3, "b")] {
        tab.add(id, queue);
    }
    tab.does(|outbox| outbox.set_sender(true, false));
    assert_eq!(tab.slots(), [0, 2]);
}

#[test]
fn a_tab_that_is_the_sender_no_more_stops_at_once() {
    for abort in [true, false] {
        let mut tab = Tab::with(1);
        let turn = tab.turn(0);
        tab.does(|outbox| outbox.set_sender(false, abort));
        assert_eq!(tab.has(Command::Abort(turn)), abort);
        assert_eq!(tab.view(0), View::Queued);
        tab.assert_same(|outbox| outbox.ended(turn, Outcome::Answer(200), Span::ZERO));
        // Once it is the sender again, it is sent again.
        tab.does(|outbox| outbox.set_sender(true, false));
        assert_eq!(tab.sent().len(), 2);
        tab.answer(0, 200);
        assert_eq!(tab.over(), [(0, Change::Deliver)]);
    }
}

#[test]
fn what_is_being_written_when_another_tab_takes_over_is_written() {
    let mut tab = Tab::with(1);
    tab.write = None;
    tab.answer(0, 200);
    tab.does(|outbox| outbox.set_sender(false, true));
    tab.wrote(false);
    tab.pass(2_000.0);
    tab.wrote(true);
    assert_eq!(tab.over(), [(0, Change::Deliver)]);
}

#[test]
fn nothing_new_is_sent_while_it_is_paused() {
    let mut tab = Tab::with(1);
    tab.add(5, "b");
    tab.does(|outbox| outbox.set_paused(true));
    tab.add(6, "c");
    assert_eq!(tab.slots(), [0, 1]);
    tab.answer(0, 200);
    tab.answer(1, 500);
    tab.pass(120_000.0);
    assert!(tab.out.is_empty());
    assert!(tab.outbox.is_quiet());
    tab.does(|outbox| outbox.set_paused(false));
    assert_eq!(tab.slots(), [2, 1]);
}

#[test]
fn a_pause_calls_back_what_the_client_only_waits_with() {
    let mut tab = Tab::with(1);
    tab.add(5, "b");
    tab.phase(0, until(9_000.0, Cause::Server));
    tab.phase(1, Phase::Offline);
    tab.does(|outbox| outbox.set_paused(true));
    assert!(tab.out.is_empty());
    assert_eq!([0, 1].map(|slot| is_waiting(tab.view(slot))), [true, false]);
    tab.does(|outbox| outbox.set_paused(false));
    assert_eq!(tab.slots(), [1]);
    tab.pass(8_999.0);
    assert_eq!(tab.slots(), [1]);
    tab.pass(1.0);
    assert_eq!(tab.slots(), [1, 0]);
}

#[test]
fn what_the_client_waits_with_for_nobody_knows_how_long_is_begun_anew_after_a_pause() {
    let mut tab = Tab::with(1);
    tab.phase(0, Phase::Waiting { until: Instant::NEVER, cause: Cause::Circuit });
    tab.does(|outbox| outbox.set_paused(true));
    tab.does(|outbox| outbox.set_paused(false));
    assert_eq!(tab.slots(), [0]);
    assert_eq!(tab.sent().len(), 2);
}

#[test]
fn what_begins_to_wait_while_it_is_paused_is_called_back_and_its_wait_is_noted() {
    let mut tab = Tab::with(1);
    tab.does(|outbox| outbox.set_paused(true));
    tab.phase(0, until(9_000.0, Cause::Server));
    assert!(tab.out.is_empty());
    assert!(tab.has(Command::Note(0, Instant::from_ms(9_000.0), Span::from_ms(9_000.0))));
    tab.does(|outbox| outbox.set_paused(false));
    tab.pass(8_999.0);
    assert!(tab.out.is_empty());
}

// ------------------------------------------------------------ the look

#[test]
fn what_a_look_has_found_is_sent() {
    let mut tab = Tab::with(0);
    tab.look = None;
    tab.add(1, "a");
    assert_eq!(tab.view(0), View::Queued);
    assert!(tab.out.is_empty());
    tab.looked(Look::Found);
    assert_eq!((tab.slots(), tab.view(0)), (vec![0], View::Sending));
}

#[test]
fn an_entry_that_another_tab_has_added_before_it_goes_first() {
    let mut tab = Tab::with(0);
    tab.look = None;
    tab.add(5, "a");
    tab.add(4, "a");
    tab.looked(Look::Another);
    assert_eq!(tab.looks[0].slot, 1);
}

#[test]
fn what_is_gone_from_the_store_is_over_and_the_next_is_looked_up() {
    let mut tab = Tab::with(0);
    tab.look = None;
    tab.add(1, "a");
    tab.add(2, "a");
    tab.looked(Look::Gone(Change::Deliver));
    assert_eq!(tab.over(), [(0, Change::Deliver)]);
    assert!(tab.written().is_empty());
    assert_eq!(tab.looks[0].slot, 1);
}

#[test]
fn a_tab_that_finds_itself_barred_sends_nothing() {
    for bar in
        [(|outbox| outbox.set_paused(true)) as fn(&mut Outbox), |outbox| outbox.set_sender(false, true)]
    {
        for look in [Look::Barred, Look::Found] {
            let mut tab = Tab::with(0);
            tab.look = None;
            tab.add(1, "a");
            tab.does(bar);
            tab.looked(look);
            assert_eq!((tab.out.len(), tab.looks.len(), tab.view(0)), (0, 0, View::Queued));
        }
    }
}

#[test]
fn a_store_that_fails_to_be_read_is_asked_again_later() {
    let mut tab = Tab::with(0);
    tab.look = Some(Look::Failed);
    tab.add(1, "a");
    assert!(matches!(tab.view(0), View::Waiting { cause: Cause::Store, .. }));
    assert!(tab.outbox.is_quiet());
    tab.pass(1_000.0);
    tab.look = Some(Look::Found);
    tab.pass(2_000.0);
    assert_eq!(tab.slots(), [0]);
}

// ------------------------------------------------------------ answers

#[test]
fn an_entry_leaves_the_store_after_its_answer_and_not_before() {
    let mut tab = Tab::with(1);
    tab.write = None;
    tab.pass(60_000.0);
    assert!(tab.writes.is_empty());
    tab.answer(0, 201);
    assert_eq!(tab.writes[0].1, Change::Deliver);
    assert_eq!(tab.outbox.len(), 1);
    tab.wrote(true);
    assert_eq!(tab.outbox.len(), 0);
}

#[test]
fn the_next_one_is_begun_when_the_first_has_left_the_store() {
    let mut tab = Tab::with(2);
    tab.write = None;
    tab.answer(0, 200);
    assert!(tab.out.is_empty());
    tab.wrote(true);
    assert_eq!(tab.slots(), [1]);
}

#[test]
fn a_refusal_makes_a_dead_letter_and_the_queue_goes_on() {
    for outcome in [Outcome::Answer(422), Outcome::Answer(404), Outcome::Invalid] {
        let mut tab = Tab::with(2);
        tab.ends(0, outcome, 0.0);
        assert_eq!(tab.written(), [Change::Reject]);
        assert_eq!((tab.view(0), tab.outbox.len()), (View::Rejected, 2));
        assert_eq!(tab.slots(), [1]);
        tab.answer(1, 200);
        assert!(tab.outbox.is_quiet());
    }
}

#[test]
fn a_dead_letter_stops_the_queue_where_that_is_wanted_until_somebody_decides() {
    let decide: [fn(&mut Tab); 4] = [
        |tab| assert!(tab.does(|outbox| outbox.cancel(0))),
        |tab| {
            assert!(tab.does(|outbox| outbox.retry_now(0)));
            tab.answer(0, 200);
        },
        |tab| tab.does(|outbox| outbox.removed(0, Change::Cancel)),
        |tab| tab.pass(WEEK),
    ];
    for (index, decide) in decide.into_iter().enumerate() {
        let mut tab = Tab::new(Limits { stop_on_rejected: true, ..limits() });
        tab.add(1, "a");
        tab.pass(1_000.0);
        tab.add(2, "a");
        tab.answer(0, 400);
        tab.pass(600_000.0);
        assert!(tab.out.is_empty());
        tab.add(3, "b");
        assert_eq!(tab.slots(), [2], "another queue goes on");
        decide(&mut tab);
        assert!(tab.slots().contains(&1) || index == 3 && tab.over().contains(&(1, Change::Expire)));
    }
}

#[test]
fn a_dead_letter_that_comes_after_the_head_stops_nothing() {
    let mut tab = Tab::new(Limits { stop_on_rejected: true, ..limits() });
    tab.does(|outbox| outbox.add(Stored { rejected: true, ..entry(2, "a") }));
    tab.add(1, "a");
    assert_eq!(tab.slots(), [1]);
}

#[test]
fn a_dead_letter_that_is_taken_up_again_is_sent_before_those_after_it_and_once_it_is_written() {
    let mut tab = Tab::with(3);
    tab.answer(0, 400);
    assert!(tab.does(|outbox| outbox.retry_now(0)));
    assert_eq!(tab.written(), [Change::Reject, Change::Revive]);
    assert_eq!(tab.slots(), [1], "what is out stays out");
    tab.answer(1, 200);
    assert_eq!(tab.slots(), [0]);
    tab.answer(0, 200);
    assert_eq!(tab.slots(), [2]);
}

#[test]
fn what_speaks_of_the_moment_or_is_no_answer_leaves_the_entry_at_the_head() {
    let outcomes = [408, 409, 425, 429, 500, 503, 599].map(Outcome::Answer);
    for outcome in outcomes.into_iter().chain([Outcome::Failed]) {
        let mut tab = Tab::with(2);
        tab.ends(0, outcome, 0.0);
        assert!(tab.out.is_empty());
        let View::Waiting { until, cause: Cause::Backoff } = tab.view(0) else { panic!("{:?}", tab.view(0)) };
        let wait = (until - Instant::default()).as_ms();
        assert!((500.0..=1_000.0).contains(&wait), "{wait}");
        assert!(tab.has(Command::Note(0, until, until - Instant::default())));
        assert!(tab.written().is_empty());
        tab.pass(wait - 1.0);
        assert!(tab.out.is_empty());
        tab.pass(1.0);
        assert_eq!(tab.slots(), [0]);
    }
}

#[test]
fn rounds_are_paced_up_to_a_minute() {
    let mut tab = Tab::with(1);
    for _ in 0..20 {
        tab.answer(0, 500);
        tab.pass(60_000.0);
    }
    let times: Vec<f64> = tab.sent().iter().map(|(at, _)| *at % 60_000.0).collect();
    assert_eq!(times.len(), 21);
    assert!(times[1] < 1_000.0 && times[10] >= 30_000.0, "{times:?}");
}

#[test]
fn what_the_server_asked_for_is_never_undercut_and_not_overdone() {
    for hint in [1.0, 700.0, 5_000.0, 3_600_000.0, 86_400_000.0] {
        for _ in 0..20 {
            let mut tab = Tab::with(1);
            tab.ends(0, Outcome::Answer(429), hint);
            assert!(matches!(tab.view(0), View::Waiting { cause: Cause::Server, .. }));
            tab.pass(hint.mul_add(1.1, 1_000.0));
            let again = tab.sent()[1].0;
            assert!(again >= hint, "{again} {hint}");
        }
    }
}

#[test]
fn a_wait_that_was_stored_goes_on_after_a_reload() {
    let mut tab = Tab::with(0);
    tab.does(|outbox| outbox.add(Stored { wait: Span::from_ms(9_000.0), ..entry(1, "a") }));
    tab.add(2, "a");
    assert!(tab.has(Command::Tell(0, tab.view(0))), "and is told");
    tab.pass(8_999.0);
    assert!(tab.out.is_empty());
    tab.pass(1.0);
    assert_eq!(tab.slots(), [0]);
}

#[test]
fn a_wait_that_another_sender_has_noted_is_kept_by_the_next_one() {
    let mut tab = Tab::with(0);
    tab.does(|outbox| outbox.set_sender(false, true));
    tab.add(1, "a");
    tab.add(2, "b");
    tab.does(|outbox| {
        outbox.noted(0, Span::from_ms(9_000.0));
        outbox.noted(1, Span::from_ms(9_000.0));
        // Another tab has clicked it away meanwhile.
        outbox.noted(1, Span::ZERO);
        outbox.set_sender(true, false);
    });
    assert_eq!(tab.slots(), [1]);
    tab.pass(8_999.0);
    assert_eq!(tab.slots(), [1]);
    tab.pass(1.0);
    assert_eq!(tab.slots(), [1, 0]);
}

#[test]
fn a_wait_that_was_noted_is_nothing_to_whoever_sends() {
    let mut tab = Tab::with(2);
    tab.does(|outbox| {
        outbox.noted(0, Span::from_ms(9_000.0));
        outbox.noted(1, Span::from_ms(9_000.0));
    });
    assert_eq!([0, 1].map(|slot| tab.view(slot)), [View::Sending, View::Queued]);
}

#[test]
fn a_tab_that_becomes_the_sender_tells_what_waits() {
    let mut tab = Tab::with(0);
    tab.does(|outbox| outbox.set_sender(false, true));
    tab.does(|outbox| outbox.add(Stored { wait: Span::from_ms(9_000.0), ..entry(1, "a") }));
    tab.does(|outbox| outbox.add(Stored { rejected: true, ..entry(2, "a") }));
    tab.log.clear();
    tab.does(|outbox| outbox.set_sender(true, false));
    assert_eq!(tab.log, [(0.0, Command::Tell(0, tab.view(0)))]);
}

// ------------------------------------------------------------ age

#[test]
fn an_entry_expires_by_its_age_wherever_it_stands() {
    let mut tab = Tab::with(2);
    tab.answer(0, 500);
    tab.add(5, "b");
    tab.answer(2, 400);
    tab.add(6, "c");
    tab.phase(3, Phase::Offline);
    tab.add(7, "d");
    tab.phase(4, until(1e12, Cause::Server));
    tab.look = None;
    tab.pass(WEEK - 1.0);
    assert!(tab.over().is_empty());
    tab.looks.clear();
    tab.does(|outbox| outbox.set_sender(false, true));
    tab.does(|outbox| outbox.set_sender(true, true));
    tab.looks.clear();
    tab.does(|outbox| outbox.set_paused(true));
    tab.does(|outbox| outbox.set_sender(false, true));
    tab.does(|outbox| outbox.set_sender(true, true));
    tab.pass(1.0);
    let mut over = tab.over();
    over.sort_by_key(|(slot, _)| *slot);
    assert_eq!(over, [0, 1, 2, 3, 4].map(|slot| (slot, Change::Expire)));
    assert_eq!(tab.outbox.next_timeout(), None);
}

#[test]
fn what_is_too_old_when_it_is_found_is_taken_out_without_a_look() {
    let mut tab = Tab::with(0);
    tab.does(|outbox| outbox.add(Stored { age: Span::from_ms(WEEK), ..entry(1, "a") }));
    assert_eq!(tab.over(), [(0, Change::Expire)]);
    assert!(!tab.log.iter().any(|(_, command)| matches!(command, Command::Look(_))));
}

#[test]
fn nothing_expires_while_its_request_is_out() {
    let mut tab = Tab::with(1);
    tab.pass(WEEK + 1.0);
    assert_eq!(tab.slots(), [0]);
    tab.answer(0, 200);
    assert_eq!(tab.over(), [(0, Change::Deliver)]);
}

#[test]
fn what_is_too_old_when_its_request_comes_back_without_an_answer_expires() {
    let back: [fn(&mut Tab); 4] = [
        |tab| tab.answer(0, 503),
        |tab| tab.ends(0, Outcome::Failed, 5_000.0),
        |tab| tab.phase(0, Phase::Offline),
        |tab| tab.phase(0, until(1e12, Cause::Backoff)),
    ];
    for back in back {
        let mut tab = Tab::with(1);
        tab.pass(WEEK);
        back(&mut tab);
        assert_eq!((tab.out.len(), tab.over()), (0, vec![(0, Change::Expire)]));
    }
}

#[test]
fn what_has_become_too_old_while_it_was_looked_up_is_not_sent() {
    let mut tab = Tab::with(0);
    tab.look = None;
    tab.add(1, "a");
    tab.pass(WEEK);
    tab.looked(Look::Found);
    assert_eq!((tab.sent().len(), tab.over()), (0, vec![(0, Change::Expire)]));
}

#[test]
fn an_age_goes_on_after_a_reload() {
    let mut tab = Tab::with(0);
    tab.does(|outbox| outbox.set_paused(true));
    tab.does(|outbox| outbox.add(Stored { age: Span::from_ms(WEEK - 500.0), ..entry(1, "a") }));
    tab.pass(499.0);
    assert_eq!(tab.outbox.len(), 1);
    tab.pass(1.0);
    assert_eq!(tab.over(), [(0, Change::Expire)]);
}

#[test]
fn a_leap_of_the_wall_clock_makes_nothing_expire() {
    let mut clock = Clock::new(0.0, 1e12);
    let mut tab = Tab::with(1);
    tab.phase(0, Phase::Offline);
    // The other clock has gained a year: that counts for waits, as if the machine had slept, and for no age.
    let now = clock.read(1_000.0, 1e12 + 52.0 * WEEK);
    tab.now = (now - Instant::default()).as_ms();
    tab.behind = tab.now - 1_000.0;
    tab.does(Outbox::wake);
    assert!(tab.over().is_empty());
    assert!(tab.outbox.next_timeout().is_some_and(|left| left.as_ms() == WEEK - 1_000.0));
    tab.now += WEEK - 1_000.0;
    tab.does(Outbox::wake);
    assert_eq!(tab.over(), [(0, Change::Expire)]);
}

#[test]
fn a_stamp_that_cannot_be_right_makes_nothing_expire() {
    let wall = 1_790_000_000_000.0;
    for created in [0.0, -1.0, f64::NAN, f64::INFINITY, wall + 1.0, 1e300] {
        let mut tab = Tab::with(0);
        tab.does(|outbox| outbox.add(Stored { age: stamps::age(created, wall), ..entry(1, "a") }));
        assert_eq!(tab.slots(), [0], "{created}");
    }
}

// ------------------------------------------------------------ a person

/// An entry in each state that there is, in the slot 0, with the store at a halt.
fn states() -> Vec<(&'static str, Tab)> {
    let halted = || {
        let mut tab = Tab::new(limits());
        tab.look = None;
        tab.write = None;
        tab.add(1, "a");
        tab
    };
    let sending = || {
        let mut tab = halted();
        tab.looked(Look::Found);
        tab
    };
    let ended = |status| {
        let mut tab = sending();
        tab.answer(0, status);
        tab
    };
    let phased = |phase| {
        let mut tab = sending();
        tab.phase(0, phase);
        tab
    };
    let blocked = |mut tab: Tab| {
        tab.wrote(false);
        tab
    };
    let rejected = || {
        let mut tab = ended(400);
        tab.wrote(true);
        tab
    };
    let revived = || {
        let mut tab = rejected();
        tab.does(|outbox| outbox.retry_now(0));
        tab
    };
    let cancelled = || {
        let mut tab = halted();
        tab.does(|outbox| outbox.cancel(0));
        tab
    };
    let mut queued = halted();
    queued.does(|outbox| outbox.set_paused(true));
    queued.looked(Look::Barred);
    let mut elsewhere = halted();
    elsewhere.does(|outbox| outbox.set_sender(false, true));
    vec![
        ("queued and paused", queued),
        ("of another tab", elsewhere),
        ("looking", halted()),
        ("loading", sending()),
        ("offline", phased(Phase::Offline)),
        ("waiting in the client", phased(until(1e9, Cause::Backoff))),
        ("waiting", ended(500)),
        ("being delivered", ended(200)),
        ("delivered, not written", blocked(ended(200))),
        ("being rejected", ended(400)),
        ("rejected, not written", blocked(ended(400))),
        ("rejected", rejected()),
        ("being revived", revived()),
        ("revived, not written", blocked(revived())),
        ("being cancelled", cancelled()),
        ("cancelled, not written", blocked(cancelled())),
    ]
}

#[test]
fn an_entry_can_be_taken_back_until_the_store_is_told_of_its_end() {
    for (name, mut tab) in states() {
        let late = [
            "being delivered",
            "delivered, not written",
            "being rejected",
            "being revived",
            "being cancelled",
            "cancelled, not written",
        ];
        let taken = tab.does(|outbox| outbox.cancel(0));
        assert_eq!(taken, !late.contains(&name), "{name}");
        if taken {
            assert!(tab.out.is_empty(), "{name}: its request is called back");
            let change = tab.writes.pop().map(|(turn, change)| {
                tab.writes = vec![(turn, change)];
                change
            });
            assert_eq!(change, Some(Change::Cancel), "{name}");
            tab.wrote(true);
            assert_eq!(tab.over(), [(0, Change::Cancel)], "{name}");
            assert_eq!((tab.outbox.len(), tab.outbox.next_timeout()), (0, None), "{name}");
        }
    }
}

#[test]
fn a_click_ends_each_wait_takes_up_what_is_dead_and_has_no_effect_elsewhere() {
    for (name, mut tab) in states() {
        let out = tab.out.first().copied();
        tab.log.clear();
        tab.writes.clear();
        let effect = tab.does(|outbox| outbox.retry_now(0));
        let log: Vec<Command> = tab.log.iter().map(|(_, command)| *command).collect();
        match name {
            "of another tab" => assert_eq!(log, [Command::Ask(0)]),
            "offline" | "waiting in the client" => assert_eq!(log, [Command::Nudge(out.unwrap())]),
            "waiting" => assert!(matches!(log[..], [Command::Tell(0, View::Queued), Command::Look(_)])),
            "delivered, not written" => assert_eq!(tab.writes[0].1, Change::Deliver),
            "rejected, not written" => assert_eq!(tab.writes[0].1, Change::Reject),
            "cancelled, not written" => assert_eq!(tab.writes[0].1, Change::Cancel),
            "rejected" | "revived, not written" => assert_eq!(tab.writes[0].1, Change::Revive),
            _ => assert!(!effect && log.is_empty(), "{name} {log:?}"),
        }
        assert_eq!(effect, !log.is_empty(), "{name}");
    }
}

#[test]
fn a_click_does_not_end_a_pause() {
    let mut tab = Tab::with(1);
    tab.answer(0, 500);
    tab.does(|outbox| outbox.set_paused(true));
    assert!(!tab.does(|outbox| outbox.retry_now(0)));
    assert!(is_waiting(tab.view(0)));
    tab.does(|outbox| outbox.set_sender(false, true));
    assert!(!tab.does(|outbox| outbox.retry_now(0)), "nor does the sender end it for another tab");
}

#[test]
fn what_is_over_can_be_neither_taken_back_nor_sent_again() {
    let mut tab = Tab::with(1);
    tab.answer(0, 200);
    for slot in [0, 1, u32::MAX] {
        assert!(!tab.does(|outbox| outbox.cancel(slot)));
        assert!(!tab.does(|outbox| outbox.retry_now(slot)));
        assert_eq!(tab.outbox.view(slot), None);
    }
}

#[test]
fn a_flush_ends_all_waits_and_leaves_dead_letters_alone() {
    let mut tab = Tab::new(limits());
    for (id, queue) in [(0, "a"), (1, "b"), (2, "c"), (3, "d")] {
        tab.add(id, queue);
    }
    tab.answer(0, 500);
    tab.answer(1, 400);
    tab.phase(2, Phase::Offline);
    let nudged = Command::Nudge(tab.turn(2));
    tab.write = Some(false);
    tab.answer(3, 200);
    assert!(tab.outbox.is_quiet());
    tab.write = Some(true);
    tab.does(Outbox::flush);
    assert!(!tab.outbox.is_quiet(), "one is on its way again");
    assert_eq!(tab.slots(), [2, 0]);
    assert!(tab.has(nudged));
    assert_eq!(tab.over(), [(3, Change::Deliver)]);
    assert_eq!(tab.view(1), View::Rejected);
}

#[test]
fn it_is_quiet_when_all_that_is_left_waits() {
    for (name, tab) in states() {
        let busy = name.starts_with("being") || ["looking", "loading"].contains(&name);
        assert_eq!(tab.outbox.is_quiet(), !busy, "{name}");
    }
    assert!(Tab::with(0).outbox.is_quiet());
}

// ------------------------------------------------------------ a store that fails

#[test]
fn what_the_store_fails_to_write_is_written_later_and_nothing_of_the_queue_is_sent_meanwhile() {
    for (status, change) in [(200, Change::Deliver), (400, Change::Reject)] {
        let mut tab = Tab::with(2);
        tab.write = Some(false);
        tab.answer(0, status);
        assert!(matches!(tab.view(0), View::Waiting { cause: Cause::Store, .. }));
        tab.pass(600_000.0);
        let tries = tab.written();
        assert!(tries.len() > 10 && tries.iter().all(|tried| *tried == change), "{tries:?}");
        assert_eq!(tab.sent().len(), 1, "neither again, nor the next");
        tab.write = Some(true);
        tab.pass(60_000.0);
        assert_eq!(tab.sent().len(), 2);
    }
}

#[test]
fn a_store_that_fails_holds_up_no_other_queue() {
    let mut tab = Tab::with(1);
    tab.write = Some(false);
    tab.answer(0, 200);
    let other = tab.add(2, "b");
    assert_eq!(tab.slots(), [other]);
}

#[test]
fn what_was_not_written_is_tried_again_by_a_tab_that_is_not_the_sender_too() {
    let mut tab = Tab::with(1);
    tab.does(|outbox| outbox.set_sender(false, true));
    tab.write = Some(false);
    assert!(tab.does(|outbox| outbox.cancel(0)));
    tab.write = Some(true);
    tab.pass(1_000.0);
    assert_eq!(tab.over(), [(0, Change::Cancel)]);
}

// ------------------------------------------------------------ other tabs

#[test]
fn what_another_tab_has_taken_out_is_over_in_every_state() {
    for (name, mut tab) in states() {
        tab.does(|outbox| outbox.removed(0, Change::Expire));
        assert_eq!(tab.over(), [(0, Change::Expire)], "{name}");
        assert!(tab.out.is_empty(), "{name}");
        assert_eq!((tab.outbox.len(), tab.outbox.next_timeout()), (0, None), "{name}");
        tab.does(|outbox| outbox.removed(0, Change::Expire));
        assert_eq!(tab.over().len(), 1, "{name}: once");
    }
}

#[test]
fn what_another_tab_has_rejected_is_dead_here_but_for_what_this_one_is_writing() {
    for (name, mut tab) in states() {
        let before = tab.view(0);
        tab.does(|outbox| outbox.marked(0, true));
        let writes = name.starts_with("being") || name.ends_with("not written");
        assert_eq!(tab.view(0), if writes { before } else { View::Rejected }, "{name}");
        assert!(tab.out.is_empty(), "{name}");
        if !writes {
            tab.does(|outbox| outbox.marked(0, false));
            assert_eq!(tab.view(0), View::Queued, "{name}");
        }
    }
}

#[test]
fn an_entry_that_is_taken_back_while_another_tab_makes_it_a_dead_letter_is_gone() {
    let mut tab = Tab::with(1);
    tab.write = None;
    tab.does(|outbox| outbox.cancel(0));
    tab.does(|outbox| outbox.marked(0, true));
    tab.wrote(true);
    assert_eq!(tab.over(), [(0, Change::Cancel)]);
}

#[test]
fn what_comes_late_for_another_doing_changes_nothing() {
    let mut tab = Tab::with(2);
    let old = tab.turn(0);
    tab.answer(0, 500);
    tab.pass(2_000.0);
    assert_ne!(tab.turn(0), old);
    let never = Turn { slot: 7, token: 1 };
    for turn in [old, never] {
        for look in [Look::Found, Look::Another, Look::Gone(Change::Deliver), Look::Barred, Look::Failed] {
            tab.assert_same(|outbox| outbox.looked(turn, look));
        }
        for phase in [Phase::Loading, Phase::Offline, until(1.0, Cause::Server)] {
            tab.assert_same(|outbox| outbox.phase(turn, phase));
        }
        for status in [200, 400, 500] {
            tab.assert_same(|outbox| outbox.ended(turn, Outcome::Answer(status), Span::ZERO));
        }
        for written in [true, false] {
            tab.assert_same(|outbox| outbox.wrote(turn, written));
        }
    }
}

#[test]
fn a_slot_that_belongs_to_another_entry_by_now_hears_nothing_of_the_first() {
    let mut tab = Tab::with(1);
    let old = tab.turn(0);
    tab.does(|outbox| outbox.cancel(0));
    assert_eq!(tab.add(9, "a"), 0);
    tab.assert_same(|outbox| outbox.ended(old, Outcome::Answer(200), Span::ZERO));
}

// ------------------------------------------------------------ room

#[test]
fn there_is_room_for_so_many_entries_and_bytes_and_again_when_one_is_over() {
    let mut tab = Tab::new(Limits { max_entries: 2, max_bytes: 100, ..limits() });
    let admit = |tab: &Tab, bytes| tab.outbox.admit(bytes);
    assert_eq!([100, 101].map(|bytes| admit(&tab, bytes)), [Ok(()), Err(Refusal::TooLarge)]);
    let big = |id| Stored { bytes: 60, ..entry(id, "a") };
    tab.does(|outbox| outbox.add(big(1)));
    assert_eq!([40, 41].map(|bytes| admit(&tab, bytes)), [Ok(()), Err(Refusal::Full)]);
    tab.does(|outbox| outbox.add(Stored { bytes: 0, ..entry(2, "a") }));
    assert_eq!(admit(&tab, 0), Err(Refusal::Full));
    tab.answer(0, 400);
    assert_eq!(admit(&tab, 0), Err(Refusal::Full), "dead letters count");
    tab.does(|outbox| outbox.cancel(0));
    assert_eq!([100, 101].map(|bytes| admit(&tab, bytes)), [Ok(()), Err(Refusal::TooLarge)]);
}

#[test]
fn sizes_that_make_no_sense_leave_no_room_and_no_trace() {
    let mut tab = Tab::new(limits());
    for id in 0..3 {
        tab.does(|outbox| outbox.add(Stored { bytes: u64::MAX, ..entry(id, "a") }));
    }
    assert_eq!(tab.outbox.admit(1), Err(Refusal::Full));
    for slot in 0..3 {
        tab.does(|outbox| outbox.cancel(slot));
    }
    assert_eq!(tab.outbox.admit(50_000_000), Ok(()));
}

// ------------------------------------------------------------ whatever happens

#[derive(Clone, Debug)]
enum Op {
    /// Into one of three queues; it may come before others, be a dead letter, have been told to wait, be old.
    Add(u8, bool, bool, f64, f64),
    Look(usize, Option<Look>),
    Phase(usize, Phase, f64),
    End(usize, Outcome, f64),
    Wrote(usize, bool),
    Late(usize),
    Cancel(usize),
    RetryNow(usize),
    Removed(usize, bool),
    Marked(usize, bool),
    Noted(usize, f64),
    Sender(bool, bool),
    Paused(bool),
    Flush,
    Pass(f64, bool),
}

fn op() -> impl Strategy<Value = Op> {
    let some = || 0_usize..40;
    let status = prop::sample::select(vec![200_u16, 201, 400, 409, 422, 429, 500, 503]);
    let outcome = prop_oneof![
        6 => status.prop_map(Outcome::Answer),
        2 => Just(Outcome::Failed),
        1 => Just(Outcome::Invalid),
    ];
    let ms = || prop_oneof![3 => Just(0.0), 1 => 0.0..100_000.0, 1 => Just(f64::INFINITY)];
    let look = prop_oneof![
        8 => Just(None),
        1 => prop::sample::select(vec![Look::Barred, Look::Failed, Look::Gone(Change::Deliver)]).prop_map(Some),
    ];
    let phase = prop_oneof![
        Just(Phase::Loading),
        Just(Phase::Offline),
        Just(until(0.0, Cause::Server)),
        Just(until(0.0, Cause::Circuit)),
    ];
    prop_oneof![
        8 => (0_u8..3, any::<bool>(), 0_u8..5, ms(), ms())
            .prop_map(|(queue, early, dead, wait, age)| Op::Add(queue, early, dead == 0, wait, age)),
        10 => (some(), look).prop_map(|(index, look)| Op::Look(index, look)),
        3 => (some(), phase, ms()).prop_map(|(index, phase, ms)| Op::Phase(index, phase, ms)),
        8 => (some(), outcome, ms()).prop_map(|(index, outcome, hint)| Op::End(index, outcome, hint)),
        8 => (some(), 0_u8..4).prop_map(|(index, failed)| Op::Wrote(index, failed > 0)),
        2 => some().prop_map(Op::Late),
        2 => some().prop_map(Op::Cancel),
        3 => some().prop_map(Op::RetryNow),
        1 => (some(), any::<bool>()).prop_map(|(index, delivered)| Op::Removed(index, delivered)),
        1 => (some(), any::<bool>()).prop_map(|(index, rejected)| Op::Marked(index, rejected)),
        1 => (some(), ms()).prop_map(|(index, wait)| Op::Noted(index, wait)),
        2 => (0_u8..4, any::<bool>()).prop_map(|(sender, abort)| Op::Sender(sender > 0, abort)),
        1 => any::<bool>().prop_map(Op::Paused),
        1 => Just(Op::Flush),
        6 => (prop_oneof![0.0..3_000.0, 0.0..100_000.0], any::<bool>()).prop_map(|(ms, leap)| Op::Pass(ms, leap)),
    ]
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Doing {
    Looking,
    Sending,
    Writing(Change),
}

/// What is known of the outbox from outside.
struct World {
    outbox: Outbox,
    now: f64,
    steady: f64,
    sender: bool,
    ids: u64,
    /// By slot: id and queue.
    live: BTreeMap<u32, (u64, u8)>,
    doing: BTreeMap<u32, (Turn, Doing)>,
    /// Turns of which nothing more is wanted.
    spent: Vec<Turn>,
}

impl World {
    fn new(seed: u64, limits: Limits) -> Self {
        Self {
            outbox: Outbox::new(limits, seed),
            now: 0.0,
            steady: 0.0,
            sender: false,
            ids: 0,
            live: BTreeMap::new(),
            doing: BTreeMap::new(),
            spent: Vec::new(),
        }
    }

    fn slot(&self, index: usize) -> Option<u32> {
        let count = self.live.len().max(1);
        self.live.keys().nth(index % count).copied()
    }

    fn of(&self, index: usize, wanted: fn(&Doing) -> bool) -> Option<Turn> {
        let all: Vec<_> =
            self.doing.values().filter(|(_, doing)| wanted(doing)).map(|(turn, _)| *turn).collect();
        all.get(index % all.len().max(1)).copied()
    }

    /// Its doing is over, unless a command says otherwise.
    fn done(&mut self, turn: Turn) {
        self.doing.remove(&turn.slot);
        self.spent.push(turn);
    }

    /// The head of its queue, as a store that knows the same would say.
    fn head(&self, slot: u32) -> Look {
        let (id, queue) = self.live[&slot];
        let before = |(slot, (other, of)): (&u32, &(u64, u8))| {
            *of == queue && *other < id && self.outbox.view(*slot) != Some(View::Rejected)
        };
        if self.live.iter().any(before) { Look::Another } else { Look::Found }
    }

    fn act(&mut self, op: Op) {
        self.outbox.advance(Instant::from_ms(self.now), Instant::from_ms(self.steady));
        match op {
            Op::Add(queue, early, rejected, wait, age) => {
                self.ids += 10;
                let id = if early { self.ids.saturating_sub(35) } else { self.ids };
                let taken = self.live.values().any(|(other, of)| (*other, *of) == (id, queue));
                if taken {
                    return;
                }
                let wait = Span::from_ms(if wait.is_finite() { wait } else { 0.0 });
                let stored = Stored {
                    id,
                    queue: ["a", "b", "c"][usize::from(queue)],
                    bytes: id,
                    age: Span::from_ms(age),
                    wait,
                    rejected,
                };
                let slot = self.outbox.add(stored);
                assert!(self.live.insert(slot, (id, queue)).is_none(), "the slot is free");
            }
            Op::Look(index, look) => {
                let Some(turn) = self.of(index, |doing| *doing == Doing::Looking) else { return };
                let look = look.unwrap_or_else(|| self.head(turn.slot));
                self.doing.remove(&turn.slot);
                self.outbox.looked(turn, look);
            }
            Op::Phase(index, phase, ms) => {
                let Some(turn) = self.of(index, |doing| *doing == Doing::Sending) else { return };
                let phase = match phase {
                    Phase::Waiting { cause, .. } => until(self.now + ms, cause),
                    phase => phase,
                };
                self.outbox.phase(turn, phase);
            }
            Op::End(index, outcome, hint) => {
                let Some(turn) = self.of(index, |doing| *doing == Doing::Sending) else { return };
                self.done(turn);
                self.outbox.ended(turn, outcome, Span::from_ms(if hint.is_finite() { hint } else { 0.0 }));
            }
            Op::Wrote(index, written) => {
                let Some(turn) = self.of(index, |doing| matches!(doing, Doing::Writing(_))) else { return };
                self.done(turn);
                self.outbox.wrote(turn, written);
            }
            Op::Late(index) => {
                let Some(&turn) = self.spent.get(index % self.spent.len().max(1)) else { return };
                let before = format!("{:?}", self.outbox);
                self.outbox.looked(turn, Look::Found);
                self.outbox.phase(turn, Phase::Offline);
                self.outbox.ended(turn, Outcome::Answer(200), Span::ZERO);
                self.outbox.wrote(turn, true);
                assert_eq!(format!("{:?}", self.outbox), before);
            }
            Op::Cancel(index) => {
                if let Some(slot) = self.slot(index) {
                    self.outbox.cancel(slot);
                }
            }
            Op::RetryNow(index) => {
                if let Some(slot) = self.slot(index) {
                    self.outbox.retry_now(slot);
                }
            }
            Op::Removed(index, delivered) => {
                if let Some(slot) = self.slot(index) {
                    self.outbox.removed(slot, if delivered { Change::Deliver } else { Change::Cancel });
                }
            }
            Op::Marked(index, rejected) => {
                let Some(slot) = self.slot(index) else { return };
                if rejected && self.doing.get(&slot).is_some_and(|(_, doing)| *doing == Doing::Looking) {
                    self.doing.remove(&slot);
                }
                self.outbox.marked(slot, rejected);
            }
            Op::Noted(index, wait) => {
                if let Some(slot) = self.slot(index) {
                    self.outbox.noted(slot, Span::from_ms(if wait.is_finite() { wait } else { 0.0 }));
                }
            }
            Op::Sender(sender, abort) => {
                if !sender {
                    self.doing.retain(|_, (_, doing)| matches!(doing, Doing::Writing(_)));
                }
                self.sender = sender;
                self.outbox.set_sender(sender, abort);
            }
            Op::Paused(paused) => self.outbox.set_paused(paused),
            Op::Flush => self.outbox.flush(),
            Op::Pass(ms, leap) => {
                self.now += ms;
                self.steady += if leap { 0.0 } else { ms };
                self.outbox.advance(Instant::from_ms(self.now), Instant::from_ms(self.steady));
                self.outbox.wake();
                self.follow();
                // What was due is done.
                assert!(self.outbox.next_timeout().is_none_or(|left| left > Span::ZERO));
            }
        }
        self.follow();
        self.check();
    }

    /// Carries out what is commanded, one by one.
    fn follow(&mut self) {
        let mut commands = Vec::new();
        self.outbox.take_commands(&mut commands);
        for command in commands {
            let slot = match command {
                Command::Look(turn)
                | Command::Send(turn)
                | Command::Abort(turn)
                | Command::Nudge(turn)
                | Command::Write(turn, _) => turn.slot,
                Command::Note(slot, ..)
                | Command::Tell(slot, _)
                | Command::Over(slot, _)
                | Command::Ask(slot) => slot,
            };
            assert!(self.live.contains_key(&slot), "{command:?} is of one that is there");
            match command {
                Command::Look(turn) => self.begin(turn, Doing::Looking),
                Command::Send(turn) => {
                    assert_eq!(self.head(slot), Look::Found, "none of its queue comes before it");
                    self.begin(turn, Doing::Sending);
                }
                Command::Write(turn, change) => self.begin(turn, Doing::Writing(change)),
                Command::Abort(turn) => {
                    if self.doing.get(&slot).is_some_and(|(current, _)| *current == turn) {
                        self.done(turn);
                    }
                }
                Command::Over(..) => {
                    self.live.remove(&slot);
                    self.doing.remove(&slot);
                }
                Command::Nudge(turn) => assert_eq!(self.doing[&slot], (turn, Doing::Sending)),
                Command::Ask(_) => assert!(!self.sender),
                Command::Note(..) | Command::Tell(..) => {}
            }
        }
    }

    fn begin(&mut self, turn: Turn, doing: Doing) {
        self.doing.insert(turn.slot, (turn, doing));
        let queue = self.live[&turn.slot].1;
        let heads = self.doing.iter().filter(|(slot, (_, doing))| {
            let moves = matches!(
                doing,
                Doing::Looking | Doing::Sending | Doing::Writing(Change::Deliver | Change::Reject)
            );
            self.live[slot].1 == queue && moves
        });
        assert!(heads.count() <= 1, "one of a queue at a time");
    }

    fn check(&self) {
        assert_eq!(self.outbox.len() as usize, self.live.len());
        for slot in self.live.keys() {
            let view = self.outbox.view(*slot);
            let doing = self.doing.get(slot).map(|(_, doing)| *doing);
            match doing {
                None => assert_ne!(view, Some(View::Sending)),
                Some(Doing::Looking) => assert_eq!(view, Some(View::Queued)),
                Some(Doing::Writing(_)) => assert_eq!(view, Some(View::Sending)),
                Some(Doing::Sending) => assert!(!matches!(view, Some(View::Queued | View::Rejected))),
            }
            if let (None, Some(View::Waiting { until, .. })) = (doing, view)
                && until < Instant::NEVER
                && self.sender
            {
                assert!(self.outbox.next_timeout().is_some(), "who waits is woken");
            }
        }
    }

    /// Everything comes to its end.
    fn finish(&mut self) {
        self.act(Op::Paused(false));
        self.act(Op::Sender(true, false));
        for _ in 0..10_000 {
            if self.live.is_empty() {
                return;
            }
            let next = match self.doing.values().next().map(|(_, doing)| *doing) {
                Some(Doing::Looking) => Op::Look(0, None),
                Some(Doing::Sending) => Op::End(0, Outcome::Answer(200), 0.0),
                Some(Doing::Writing(_)) => Op::Wrote(0, true),
                None => {
                    let dead =
                        self.live.keys().position(|slot| self.outbox.view(*slot) == Some(View::Rejected));
                    let left = self.outbox.next_timeout().map_or(0.0, Span::as_ms);
                    dead.map_or(Op::Pass(left, false), Op::Cancel)
                }
            };
            self.act(next);
        }
        panic!("{:?}", self.outbox);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_queue_keeps_its_order_and_all_comes_to_an_end(
        seed: u64,
        stop: bool,
        age in prop::sample::select(vec![f64::INFINITY, WEEK, 60_000.0]),
        ops in prop::collection::vec(op(), 1..80),
    ) {
        let mut world =
            World::new(seed, Limits { max_age: Span::from_ms(age), stop_on_rejected: stop, ..limits() });
        world.act(Op::Sender(true, false));
        for op in ops {
            world.act(op);
        }
        world.finish();
        prop_assert_eq!(world.outbox.len(), 0);
        prop_assert_eq!(world.outbox.next_timeout(), None);
        prop_assert!(world.outbox.is_quiet());
        prop_assert_eq!(world.outbox.admit(limits().max_bytes), Ok(()));
    }
}
