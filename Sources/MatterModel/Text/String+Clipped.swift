extension String {
    /// At most `count` bytes of UTF-8, cut between characters: Matter limits names in bytes.
    public func clipped(toBytes count: Int) -> String {
        var text = self
        while text.utf8.count > max(0, count) { text.removeLast() }
        return text
    }
}
