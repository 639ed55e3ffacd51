// The fuzz target of the TLV codec. `scripts/fuzz tlv` compiles it together with Sources/MatterTLV as one module.

/// Ends the run with the name of the property, which `precondition` would not print in an optimised build.
private func check(_ holds: Bool, _ otherwise: String) {
    if !holds { fatalError(otherwise) }
}

/// Called by libFuzzer with one input. A broken property is a trap, which libFuzzer reports with the input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTLV(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
    let input = UnsafeRawBufferPointer(start: data, count: size)
    // The walk: each step takes at least a byte and stays within the input.
    var reader = TLVReader(input)
    do throws(TLVError) {
        while let token = try reader.next() {
            check(reader.offset > token.offset && reader.offset <= size, "the reader left its input")
            check(reader.depth >= 0 && reader.depth <= 32, "the reader is deeper than its limit")
        }
        check(reader.isAtEnd && reader.depth == 0, "the reader stopped early")
    } catch {
        check(error.offset >= 0 && error.offset <= size, "the error points outside the input")
    }
    // Passing over an element ends where reading it ends.
    var skipping = TLVReader(input)
    if let token = try? skipping.next(), (try? skipping.skip(token)) != nil {
        check(skipping.depth == 0, "a container is open after skip")
    }
    // The tree: what is written is as short or shorter, and is read as the same.
    guard let element = try? TLVElement(decoding: input) else { return 0 }
    let written = element.value.encoded(tag: element.tag)
    check(written.count <= size, "the writer is longer than what was read")
    guard let again = try? TLVElement(decoding: written) else { fatalError("what was written cannot be read") }
    check(again == element, "what was written is read as something else")
    check(again.value.encoded(tag: again.tag) == written, "the writer is not stable")
    return 0
}
