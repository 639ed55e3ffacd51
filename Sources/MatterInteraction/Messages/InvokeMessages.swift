import MatterModel
import MatterTLV

/// A command with its fields (CommandDataIB, Matter Core, 10.6.12).
public struct CommandData: Hashable, Sendable {
    public var path: WireCommandPath
    /// A structure; nil when the message had none.
    public var fields: TLVValue?
    /// Matches responses with requests when several commands are batched.
    public var reference: UInt16?

    public init(_ path: WireCommandPath, _ fields: TLVValue? = nil, reference: UInt16? = nil) {
        (self.path, self.fields, self.reference) = (path, fields, reference)
    }

    init(_ reader: inout TLVReader, _ token: TLVToken) throws(TLVError) {
        try reader.expectStructure(token, "command data")
        self.init(WireCommandPath())
        var hasPath = false
        while let member = try reader.nextMember() {
            switch member.contextTag {
            case 0:
                path = try CommandPath.read(&reader, member)
                hasPath = true
            case 1: fields = try reader.value(of: member)
            case 2: reference = try member.number("command reference")
            default: try reader.skip(member)
            }
        }
        if !hasPath { throw TLVError(.unexpectedElement, at: token.offset, "command data without a path") }
    }

    func write(_ tag: TLVTag, to writer: inout TLVWriter) {
        writer.openStructure(tag)
        path.write(0, to: &writer)
        if let fields { writer.value(1, fields) }
        if let reference { writer.unsigned(2, UInt64(reference)) }
        writer.close()
    }
}

/// InvokeRequestMessage (Matter Core, 10.7.9).
public struct InvokeRequest: Hashable, Sendable {
    public var suppressesResponse: Bool
    /// The request follows a timed request.
    public var isTimed: Bool
    public var commands: [CommandData]

    public init(_ commands: [CommandData], isTimed: Bool = false, suppressesResponse: Bool = false) {
        (self.commands, self.isTimed, self.suppressesResponse) = (commands, isTimed, suppressesResponse)
    }

    public init(decoding payload: UnsafeRawBufferPointer) throws(TLVError) {
        self = try decode(payload) { (reader) throws(TLVError) in
            var (suppresses, isTimed, commands): (Bool?, Bool?, [CommandData]?)
            while let member = try reader.nextMember() {
                switch member.contextTag {
                case 0: suppresses = try member.boolean("suppress response")
                case 1: isTimed = try member.boolean("timed request")
                case 2: commands = try decodeArray(&reader, member, "invoke requests", CommandData.init(_:_:))
                default: try reader.skip(member)
                }
            }
            return InvokeRequest(
                try commands.required("invoke requests"), isTimed: try isTimed.required("timed request"),
                suppressesResponse: try suppresses.required("suppress response"))
        }
    }

    public var payload: [UInt8] {
        var writer = TLVWriter()
        writer.openStructure(.anonymous)
        writer.boolean(0, suppressesResponse)
        writer.boolean(1, isTimed)
        writer.openArray(2)
        for command in commands { command.write(.anonymous, to: &writer) }
        writer.close()
        writer.unsigned(InteractionModel.revisionTag, UInt64(InteractionModel.revision))
        writer.close()
        return writer.bytes
    }
}

/// The answer to one command: a response command, or a status (InvokeResponseIB, Matter Core, 10.6.14).
public struct CommandAnswer: Hashable, Sendable {
    /// The fields of a response command, or a status.
    public enum Outcome: Hashable, Sendable {
        case response(TLVValue)
        case status(Status)
    }
    /// Of the response command, or, with a status, of the request.
    public var path: WireCommandPath
    public var outcome: Outcome
    public var reference: UInt16?

    public init(_ path: WireCommandPath, _ outcome: Outcome, reference: UInt16? = nil) {
        (self.path, self.outcome, self.reference) = (path, outcome, reference)
    }

    init(_ reader: inout TLVReader, _ token: TLVToken) throws(TLVError) {
        try reader.expectStructure(token, "an invoke response")
        var answer: CommandAnswer?
        while let member = try reader.nextMember() {
            switch member.contextTag {
            case 0:
                let data = try CommandData(&reader, member)
                answer = CommandAnswer(data.path, .response(data.fields ?? .structure([])), reference: data.reference)
            case 1:
                try reader.expectStructure(member, "a command status")
                var (path, status, reference): (WireCommandPath?, Status?, UInt16?)
                while let part = try reader.nextMember() {
                    switch part.contextTag {
                    case 0: path = try CommandPath.read(&reader, part)
                    case 1: status = try Status(&reader, part)
                    case 2: reference = try part.number("command reference")
                    default: try reader.skip(part)
                    }
                }
                answer = CommandAnswer(
                    try path.required("the path", at: member.offset),
                    .status(try status.required("the status", at: member.offset)),
                    reference: reference)
            default: try reader.skip(member)
            }
        }
        guard let answer else { throw TLVError(.unexpectedElement, at: token.offset, "an empty invoke response") }
        self = answer
    }

    func write(to writer: inout TLVWriter) {
        writer.openStructure(.anonymous)
        switch outcome {
        case .response(let fields): CommandData(path, fields, reference: reference).write(0, to: &writer)
        case .status(let status):
            writer.openStructure(1)
            path.write(0, to: &writer)
            status.write(1, to: &writer)
            if let reference { writer.unsigned(2, UInt64(reference)) }
            writer.close()
        }
        writer.close()
    }
}

/// InvokeResponseMessage (Matter Core, 10.7.10).
public struct InvokeResponse: Hashable, Sendable {
    public var suppressesResponse: Bool
    public var answers: [CommandAnswer]
    public var moreChunks: Bool

    public init(_ answers: [CommandAnswer], suppressesResponse: Bool = false, moreChunks: Bool = false) {
        (self.answers, self.suppressesResponse, self.moreChunks) = (answers, suppressesResponse, moreChunks)
    }

    public init(decoding payload: UnsafeRawBufferPointer) throws(TLVError) {
        self = try decode(payload) { (reader) throws(TLVError) in
            var response = InvokeResponse([])
            while let member = try reader.nextMember() {
                switch member.contextTag {
                case 0: response.suppressesResponse = try member.boolean("suppress response")
                case 1: response.answers = try decodeArray(&reader, member, "invoke responses", CommandAnswer.init(_:_:))
                case 2: response.moreChunks = try member.boolean("more chunks")
                default: try reader.skip(member)
                }
            }
            return response
        }
    }

    public var payload: [UInt8] {
        var writer = TLVWriter()
        writer.openStructure(.anonymous)
        writer.boolean(0, suppressesResponse)
        writer.openArray(1)
        for answer in answers { answer.write(to: &writer) }
        writer.close()
        if moreChunks { writer.boolean(2, true) }
        writer.unsigned(InteractionModel.revisionTag, UInt64(InteractionModel.revision))
        writer.close()
        return writer.bytes
    }
}
