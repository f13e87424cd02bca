import SecurePushCore

/// The relay's times. Tests shorten them; they are no settings, for each follows from another.
struct OutboxTiming: Sendable {
    /// Between two looks for unpublished entries. A fifth of what `NotBefore` is promised to be late at most: what
    /// remains is for ten thousand that fall due together. A look that finds nothing writes nothing.
    var sweep = Duration.milliseconds(200)
    /// How long a leased entry is this process's own.
    var lease = Duration.seconds(15)
    /// How long after its publishing began an ID that the broker has confirmed is noted as published, if its entry is
    /// still there. By then nearly all have been dispatched, and their entries are gone; and it is well before
    /// ``OutboxPolicy/grace`` is over and another process takes the entry for unpublished.
    var note = Duration.seconds(2)
    /// Between two looks for what is to be noted.
    var noting = Duration.milliseconds(250)
    /// After how long what the broker was given, and nobody has settled, may be given to it again.
    var redelivery = OutboxPolicy.redelivery
    /// Between two looks at the dispatch queue.
    var look = Duration.seconds(2)
    /// How long the dispatch queue must have been empty at every look; see ``LostMessageDetector``.
    var calm = Duration.seconds(4)

    static let standard = OutboxTiming()
}
