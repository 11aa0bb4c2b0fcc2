//! From findings and gates to an ordered plan.
