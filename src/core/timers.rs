//! One deadline a key, and which comes first: an indexed heap, so that moving or clearing one of a
//! hundred thousand costs no more than a few swaps and leaves nothing behind.

use super::time::Instant;

/// Deadlines of keys from 0. Equal deadlines come in the order of their keys.
#[derive(Clone, Debug, Default)]
pub struct Timers {
    heap: Vec<(Instant, u32)>,
    /// Where in the heap a key is, plus one; zero is nowhere.
    places: Vec<u32>,
}

impl Timers {
    /// With four below each there are half as many levels as with two, and those four are side by side in memory.
    const CHILDREN: usize = 4;

    /// Sets, moves or (with `None`) clears the deadline of `key`.
    pub fn set(&mut self, key: u32, at: Option<Instant>) {
        let index = key as usize;
        if self.places.len() <= index {
            if at.is_none() {
                return;
            }
            self.places.resize(index + 1, 0);
        }
        let place = self.places.get(index).map_or(0, |&place| place as usize);
        match (place.checked_sub(1), at) {
            (None, None) => {}
            (None, Some(at)) => {
                self.heap.push((at, key));
                self.settle(self.heap.len() - 1);
            }
            (Some(place), Some(at)) => {
                if let Some(slot) = self.heap.get_mut(place) {
                    *slot = (at, key);
                    self.settle(place);
                }
            }
            (Some(place), None) => {
                if let Some(slot) = self.places.get_mut(index) {
                    *slot = 0;
                }
                if place < self.heap.len() {
                    self.heap.swap_remove(place);
                    if place < self.heap.len() {
                        self.settle(place);
                    }
                }
            }
        }
    }

    /// The first deadline and its key.
    pub fn first(&self) -> Option<(Instant, u32)> {
        self.heap.first().copied()
    }

    /// Moves what is at `place` up or down to where it belongs.
    fn settle(&mut self, mut place: usize) {
        let Some(&moved) = self.heap.get(place) else { return };
        while let Some(above) = place.checked_sub(1).map(|place| place / Self::CHILDREN)
            && let Some(&other) = self.heap.get(above)
            && moved < other
        {
            self.put(place, other);
            place = above;
        }
        loop {
            let mut least = (moved, place);
            let below = place * Self::CHILDREN + 1;
            for (&other, child) in self.heap.iter().skip(below).take(Self::CHILDREN).zip(below..) {
                least = least.min((other, child));
            }
            if least.1 == place {
                break;
            }
            self.put(place, least.0);
            place = least.1;
        }
        self.put(place, moved);
    }

    fn put(&mut self, place: usize, entry: (Instant, u32)) {
        if let Some(slot) = self.heap.get_mut(place) {
            *slot = entry;
        }
        if let Some(slot) = self.places.get_mut(entry.1 as usize) {
            *slot = place as u32 + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn it_agrees_with_a_sorted_set_whatever_is_set_and_cleared() {
        let mut rng = crate::core::rng::Rng::new(3);
        let mut timers = Timers::default();
        let mut set = BTreeSet::new();
        let mut at = [None; 50];
        for _ in 0..100_000 {
            let key = (rng.bits() % 50) as usize;
            let next = (!rng.bits().is_multiple_of(3)).then(|| Instant::from_ms((rng.bits() % 100) as f64));
            if let Some(old) = at[key] {
                set.remove(&(old, key as u32));
            }
            at[key] = next;
            if let Some(next) = next {
                set.insert((next, key as u32));
            }
            timers.set(key as u32, next);
            assert_eq!(timers.first(), set.first().copied());
            assert_eq!(timers.heap.len(), set.len());
        }
    }
}
