//! Random numbers from a seed that is passed in: the core has no entropy of its own.

/// SplitMix64 (Steele, Lea, Flood 2014): small, and as even as jitter needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rng(u64);

impl Rng {
    /// The same seed gives the same numbers.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 random bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Evenly from 0 (included) to 1 (not included).
    pub const fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_are_those_of_splitmix64() {
        let mut rng = Rng::new(1_234_567);
        assert_eq!(
            [(); 5].map(|()| rng.bits()),
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821,
            ]
        );
    }

    #[test]
    fn a_unit_is_the_upper_bits_as_a_share_of_all() {
        assert!((Rng::new(1_234_567).unit() - 6_457_827_717_110_365_317.0 / 2_f64.powi(64)).abs() < 1e-15);
    }
}
