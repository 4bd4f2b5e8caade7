//! The boundary in the wasm of a real browser: what goes in as numbers comes out as it should. What JavaScript makes of
//! it is tested through the package.
#![cfg(target_arch = "wasm32")]

use steadfetch::core::policy::Policy;
use steadfetch::web::exports as core;
use steadfetch::web::family::Family;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

/// How many numbers a policy has; see `options.ts`.
const NUMBERS: usize = 33;
const LIMIT: usize = 0;
const DELAY: usize = 1;
const JITTER: usize = 5;
const BREAKER: usize = 16;
const CONSECUTIVE: usize = 17;
const BUDGET: usize = 29;

const START: u32 = 0;
const CANCEL: u32 = 4;

/// A family and what JavaScript does with it.
struct Page {
    family: *mut Family,
    now: f64,
}

/// A command: its kind, and what it says.
type Told = (u32, Vec<f64>, String);

impl Page {
    fn new() -> Self {
        Self { family: core::family(1, 2, 0.0, 1e12, 3), now: 0.0 }
    }

    fn at(&mut self, now: f64) {
        self.now = now;
        core::at(self.family, now, 1e12 + now, 3);
    }

    fn write(&self, numbers: &[f64], text: &str) {
        let from = numbers.len() * 8;
        let room = core::room(self.family, (from + text.len()) as u32);
        unsafe {
            room.copy_from(numbers.as_ptr(), numbers.len());
            room.cast::<u8>().add(from).copy_from(text.as_ptr(), text.len());
        }
    }

    fn policy(&self, given: &[(usize, f64)]) -> *const Policy {
        let mut numbers = [f64::NAN; NUMBERS];
        for &(place, number) in given {
            numbers[place] = number;
        }
        self.write(&numbers, "");
        core::policy(self.family, -1, -1)
    }

    fn row(&self, place: usize) -> (Vec<f64>, String) {
        unsafe {
            let row = core::rows(self.family).add(place * 12);
            let row = std::slice::from_raw_parts(row, 12);
            let text = match row[11] as usize {
                0 => &[],
                length => std::slice::from_raw_parts(row[10] as usize as *const u8, length),
            };
            (row[..10].to_vec(), String::from_utf8_lossy(text).into_owned())
        }
    }

    fn commands(&self) -> Vec<Told> {
        let mut all = Vec::new();
        loop {
            let kind = core::next(self.family);
            if kind == 0 {
                return all;
            }
            let (row, text) = self.row(0);
            all.push((kind, row, text));
        }
    }

    fn kinds(&self) -> Vec<u32> {
        self.commands().into_iter().map(|(kind, ..)| kind).collect()
    }

    /// Begins a GET of that URL.
    fn start(&mut self, policy: *const Policy, url: &str) -> u32 {
        self.at(self.now);
        self.write(&[], url);
        let circuit = core::resolve(self.family, policy, url.len() as i32, true);
        self.write(&[], "GET");
        let listed = core::listed(self.family, policy, 3);
        let slot = core::insert(self.family, policy, circuit as i32, u32::from(listed) | 4, 0, 1);
        core::handle(self.family, slot, START, 0, f64::NAN);
        slot
    }

    fn ends(&self, slot: u32, seq: f64, status: i32) {
        core::outcome(self.family, slot, seq as u32, status, f64::NAN, f64::NAN, false);
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        core::free(self.family);
    }
}

/// The attempt that is to be sent.
fn sent(told: &[Told]) -> f64 {
    told.iter().find(|(kind, ..)| *kind == 1).expect("something is sent").1[1]
}

#[wasm_bindgen_test]
fn a_good_answer_is_a_success() {
    let mut page = Page::new();
    let policy = page.policy(&[]);
    let slot = page.start(policy, "https://a.example/x");
    let told = page.commands();
    assert_eq!(told.iter().map(|(kind, ..)| *kind).collect::<Vec<_>>(), [7, 1]);
    page.ends(slot, sent(&told), 200);
    assert_eq!(page.kinds(), [12]);
    core::release_policy(policy);
}

#[wasm_bindgen_test]
fn a_failure_waits_and_is_sent_again_until_the_limit() {
    let mut page = Page::new();
    let policy = page.policy(&[(LIMIT, 1.0), (DELAY, 250.0), (JITTER, 3.0)]);
    assert_eq!(core::attempts(policy), 2.0);
    let slot = page.start(policy, "https://a.example/x");
    page.ends(slot, sent(&page.commands()), -1);
    let told = page.commands();
    let (kind, waiting, _) = told.last().expect("it waits");
    assert_eq!((*kind, waiting[1], waiting[3], waiting[4]), (8, 1.0, 250.0, 250.0));
    let (timer, _) = page.row(0);
    assert_eq!((timer[0], timer[1]), (250.0, 1.0), "the timer runs, and a call waits for it");
    page.at(250.0);
    core::rang(page.family);
    while core::wake(page.family) {
        page.commands();
    }
    page.ends(slot, sent(&page.commands()), -1);
    assert_eq!(page.kinds().last(), Some(&11));
    core::release_policy(policy);
}

#[wasm_bindgen_test]
fn a_call_that_is_given_up_is_aborted_and_its_place_is_free() {
    let mut page = Page::new();
    let policy = page.policy(&[]);
    let slot = page.start(policy, "https://a.example/x");
    page.commands();
    assert!(core::handle(page.family, slot, CANCEL, 0, f64::NAN));
    assert_eq!(page.kinds(), [4, 2, 14]);
    assert_eq!(core::look(page.family, slot, 1), 0);
    assert_eq!(page.start(policy, "https://a.example/x"), slot);
    core::release_policy(policy);
}

#[wasm_bindgen_test]
fn the_circuit_of_the_origin_opens_and_refuses() {
    let mut page = Page::new();
    let policy = page.policy(&[(LIMIT, 0.0), (CONSECUTIVE, 1.0)]);
    let slot = page.start(policy, "https://a.example:8443/x?y#z");
    page.ends(slot, sent(&page.commands()), 503);
    page.commands();
    page.start(policy, "https://a.example:8443/other");
    let told = page.commands();
    let (kind, row, key) = &told[0];
    assert_eq!((*kind, row[5], key.as_str()), (10, 1.0, "https://a.example:8443"));
    assert_eq!(core::circuits(page.family), 1);
    assert_eq!(page.row(0).1, "https://a.example:8443");
    core::release_policy(policy);
}

#[wasm_bindgen_test]
fn numbers_at_their_ends_saturate() {
    let mut page = Page::new();
    let policy = page.policy(&[(LIMIT, f64::INFINITY), (DELAY, 1e12), (3, f64::INFINITY), (JITTER, 3.0)]);
    assert_eq!(core::attempts(policy), f64::INFINITY);
    let slot = page.start(policy, "https://a.example/x");
    page.ends(slot, sent(&page.commands()), -1);
    page.commands();
    assert_eq!(page.row(0).0[0], f64::from(0x7FFF_FFFF), "no timer is longer than browsers know");
    core::release_policy(policy);
}

#[wasm_bindgen_test]
fn text_is_read_where_it_was_written() {
    let mut page = Page::new();
    page.at(0.0);
    page.write(&[], "7Thu, 01 Jan 1970 00:00:00 GMT");
    assert!(core::hint(page.family, 1, -1, -1, 29, false, 0.0));
    assert_eq!(page.row(0).0[..2], [7_000.0, 0.0]);
    page.write(&[], "9");
    assert!(core::hint(page.family, -1, -1, 1, -1, false, 0.0));
    assert_eq!(page.row(0).0[..2], [9_000.0, 1.0]);
    assert!(!core::hint(page.family, -1, -1, -1, -1, false, 0.0));
}

#[wasm_bindgen_test]
fn lists_follow_the_numbers() {
    let mut page = Page::new();
    let numbers: Vec<f64> = [f64::NAN; NUMBERS].into_iter().chain([404.0]).collect();
    page.write(&numbers, "PATCH\npost");
    let policy = core::policy(page.family, 1, 10);
    for (method, listed) in [("PATCH", true), ("post", true), ("GET", false), ("POST", false)] {
        page.write(&[], method);
        assert_eq!(core::listed(page.family, policy, method.len() as i32), listed, "{method}");
    }
    let idempotent = page.policy(&[(BREAKER, 0.0), (BUDGET, 0.0)]);
    for (policy, status, kind) in [(policy, 404, 13), (idempotent, 404, 13), (idempotent, 503, 8)] {
        let slot = page.start(policy, "https://a.example/x");
        page.ends(slot, sent(&page.commands()), status);
        assert_eq!(page.kinds().last(), Some(&kind), "{status}");
    }
    core::release_policy(policy);
    core::release_policy(idempotent);
}
