//! Carries out a plan.
