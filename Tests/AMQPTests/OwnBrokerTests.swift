import Testing

/// Tests with a broker of their own, one after the other: starting brokers side by side is slower than in a row.
@Suite(.serialized, .timeLimit(.minutes(10))) struct OwnBrokerTests {}
