import Foundation
import StackKit
import Synchronization
import TestSupport
import Testing
import ThreadExecutor

/// An actor whose thread takes letters from a mailbox, without a job for them.
private actor Recipient: ThreadExecutor.Client {
    private struct Mailbox {
        var letters: [Int] = []
        /// Comes while the thread is taking the others.
        var late: Int?
    }

    private let executor: ThreadExecutor
    private nonisolated let mailbox = Mutex(Mailbox())
    private let letters = Mutex<[Int]>([])
    private var askings = 0

    /// The letters that the thread has taken. Reading them is no job, because a job would wake the thread.
    nonisolated var taken: [Int] { letters.withLock { $0 } }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init() throws {
        executor = try ThreadExecutor(name: "recipient")
        executor.setClient(self)
    }

    deinit { executor.stop() }

    nonisolated func post(_ letters: [Int]) {
        mailbox.withLock { $0.letters += letters }
        executor.post()
    }

    nonisolated func postLate(_ letter: Int) {
        mailbox.withLock { $0.late = letter }
        executor.post()
    }

    /// How often the client was asked before this job.
    func count() -> Int { askings }

    /// Posts from the thread itself; how often the client was asked before.
    func countAndPost(_ letters: [Int]) -> Int {
        for letter in letters { post([letter]) }
        return askings
    }

    nonisolated func prepareToWait() -> ThreadExecutor.Interest {
        let (letters, late) = mailbox.withLock { mailbox in
            defer { mailbox = Mailbox() }
            return (mailbox.letters, mailbox.late)
        }
        if let late { post([late]) }
        self.letters.withLock { $0 += letters }
        return assumeIsolated { recipient in
            recipient.askings += 1
            return ThreadExecutor.Interest()
        }
    }

    nonisolated func waitEnded(readable: Bool, writable: Bool) {}
}

@Suite(.timeLimit(.minutes(5))) struct MailTests {
    @Test func `Mail ends the wait`() async throws {
        let recipient = try Recipient()
        for letter in 1...100 {
            recipient.post([letter])
            try await expectEventually { recipient.taken.last == letter }
        }
    }

    @Test func `Mail from many threads is taken without a job`() async throws {
        let recipient = try Recipient()
        await withTaskGroup(of: Void.self) { group in
            for sender in 0..<20 {
                group.addTask { for letter in 0..<500 { recipient.post([sender * 500 + letter]) } }
            }
        }
        try await expectEventually { recipient.taken.count == 10_000 }
        #expect(Set(recipient.taken) == Set(0..<10_000))
    }

    @Test func `Mail that comes while the thread takes the rest is taken too`() async throws {
        let recipient = try Recipient()
        for letter in 1...100 {
            recipient.postLate(letter)
            try await expectEventually { recipient.taken.last == letter }
        }
    }

    /// A byte in the pipe would end the next wait at once, and the client would be asked once more.
    @Test func `Mail from its own thread costs no signal`() async throws {
        let recipient = try Recipient()
        // The first wait takes the signal of the start.
        for letter in 0..<2 {
            recipient.post([letter])
            try await expectEventually { recipient.taken.last == letter }
        }
        for letter in 2..<30 {
            let before = await recipient.countAndPost([letter, letter])
            try await expectEventually { recipient.taken.last == letter }
            let after = await recipient.count()
            #expect(after == before + 1)
        }
    }
}
