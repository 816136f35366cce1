-- CVE-2022-24834: a text that grows sixfold when it is escaped.
local s = string.rep('\1', 4000000) return #cjson.encode({s, s, s})
