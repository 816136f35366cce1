-- CVE-2015-8080, CVE-2020-14147: sizes that do not fit an int.
for _, f in ipairs({'i2147483648', 'c99999999999', 'i4294967297', 'I33', '!2147483648', 'c2147483647c2147483647c2147483647', 's2147483647', '!1073741824i32'}) do pcall(struct.pack, f, 1, 1, 1) pcall(struct.unpack, f, 'x') pcall(struct.size, f) end return 1
