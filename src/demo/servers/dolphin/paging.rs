//! Pages, as both generations cut them.

use serde_json::{Value, json};

use super::asked::Asked;
use super::reply::Refusal;

/// Which page is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageAsked {
    /// Number, from 1.
    pub number: i64,
    /// Entries a page; the server knows no limit.
    pub size: i64,
}

/// How the offset of a page is called: `start` up to 3.1, `pageNo` (which is not the number of the page) in 3.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OffsetKey {
    /// 3.1.
    Start,
    /// 3.2.2.
    PageNo,
}

impl PageAsked {
    /// Reads `pageNo` and `pageSize`; zero and less is 10001.
    pub fn of(asked: &Asked) -> Result<Self, Refusal> {
        let positive = |name: &str| match asked.number(name) {
            Some(number) if number > 0 => Ok(number),
            _ => Err(Refusal::bad_parameter(name)),
        };
        Ok(Self { number: positive("pageNo")?, size: positive("pageSize")? })
    }

    fn offset(self) -> i64 {
        (self.number - 1).saturating_mul(self.size)
    }

    /// The entries of this page.
    pub fn cut<T>(self, all: Vec<T>) -> Vec<T> {
        let skip = usize::try_from(self.offset()).unwrap_or(usize::MAX);
        let take = usize::try_from(self.size).unwrap_or(usize::MAX);
        all.into_iter().skip(skip).take(take).collect()
    }

    /// A `PageInfo`. `totalPage` is at least 1.
    pub fn info(self, entries: &[Value], total: i64, key: OffsetKey) -> Value {
        let pages = (total + self.size - 1).div_euclid(self.size).max(1);
        let mut info = json!({
            "totalList": entries, "total": total, "totalPage": pages, "pageSize": self.size, "currentPage": self.number,
        });
        let name = match key {
            OffsetKey::Start => "start",
            OffsetKey::PageNo => "pageNo",
        };
        info[name] = Value::from(self.offset());
        info
    }

    /// The page of a list that is held whole.
    pub fn of_all(self, all: Vec<Value>, key: OffsetKey) -> Value {
        let total = i64::try_from(all.len()).unwrap_or(i64::MAX);
        self.info(&self.cut(all), total, key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_cut_as_recorded() {
        // 3.2.2, 024-dir-page-9: four entries, two a page, page 9.
        let page = PageAsked { number: 9, size: 2 }.of_all(vec![Value::Null; 4], OffsetKey::PageNo);
        let expected =
            json!({"totalList": [], "total": 4, "totalPage": 2, "pageSize": 2, "currentPage": 9, "pageNo": 16});
        assert_eq!(page, expected);
        let empty = PageAsked { number: 1, size: 10 }.of_all(Vec::new(), OffsetKey::Start);
        assert_eq!(empty["totalPage"], 1);
    }
}
