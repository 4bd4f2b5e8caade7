//! Every interleaving of a few calls around small circuits, on the real core: nothing is modelled twice. Each model
//! prints how many states it has; all of them are visited, none is drawn by lot.
#![cfg(not(target_arch = "wasm32"))]

mod breaker;
mod canonical;
mod engine;
mod outbox;
mod tabs;

use std::hash::{Hash, Hasher};
use std::time::Instant;

use stateright::{Checker as _, HasDiscoveries, Model};

/// A state as the checker knows it: told apart by its canonical form alone.
#[derive(Clone, Debug)]
pub struct Known<T> {
    pub form: u64,
    pub of: T,
    /// The property that the step to this state broke.
    pub broken: Option<&'static str>,
}

impl<T> PartialEq for Known<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.form, self.broken) == (other.form, other.broken)
    }
}

impl<T> Hash for Known<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.form, self.broken).hash(state);
    }
}

/// Visits every state; fails with a way to what breaks a property.
pub fn exhaust<M, T>(name: &str, model: M)
where
    M: Model<State = Known<T>> + Send + Sync + 'static,
    M::Action: Clone + PartialEq + std::fmt::Debug,
    T: Clone + std::fmt::Debug + Send + Sync + 'static,
{
    let began = Instant::now();
    let checker = model.checker().threads(2).finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    println!(
        "{name}: {} states, {} transitions, depth {}, {:.1} s",
        checker.unique_state_count(),
        checker.state_count(),
        checker.max_depth(),
        began.elapsed().as_secs_f64(),
    );
    assert!(checker.is_done(), "{name}: states are left to visit");
    checker.assert_properties();
}
