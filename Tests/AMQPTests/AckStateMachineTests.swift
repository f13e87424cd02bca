import Testing

@testable import AMQP

@Suite struct AckStateMachineTests {
    private func machine(deliveries: UInt64) -> AckStateMachine {
        var machine = AckStateMachine()
        for tag in 1...deliveries { machine.delivered(tag) }
        return machine
    }

    @Test func `A prefix is one frame`() {
        var machine = machine(deliveries: 5)
        for tag: UInt64 in [3, 1, 2] { machine.settle(tag, as: .acknowledge) }
        #expect(machine.frames() == [.acknowledge(3, isMultiple: true)])
        #expect(machine.outstanding == 2)
        #expect(machine.frames().isEmpty)
    }

    @Test func `What is ahead of a slow one goes by itself`() {
        var machine = machine(deliveries: 4)
        for tag: UInt64 in [1, 3, 4] { machine.settle(tag, as: .acknowledge) }
        let frames = machine.frames()
        #expect(
            frames == [
                .acknowledge(1, isMultiple: true), .acknowledge(3, isMultiple: false),
                .acknowledge(4, isMultiple: false),
            ])
        machine.settle(2, as: .acknowledge)
        #expect(machine.frames() == [.acknowledge(2, isMultiple: true)])
        #expect(machine.outstanding == 0)
    }

    @Test func `What may wait leaves with a slow one`() {
        var machine = machine(deliveries: 5)
        machine.maxWaiting = 2
        for tag: UInt64 in [1, 3, 4] { machine.settle(tag, as: .acknowledgeLater) }
        #expect(machine.frames() == [.acknowledge(1, isMultiple: true)])
        #expect(machine.hasFrames)
        machine.settle(2, as: .acknowledge)
        #expect(machine.frames() == [.acknowledge(4, isMultiple: true)])
        #expect(!machine.hasFrames)
        #expect(machine.outstanding == 1)
    }

    @Test func `Only so much waits`() {
        var machine = machine(deliveries: 5)
        machine.maxWaiting = 2
        for tag: UInt64 in [3, 4] { machine.settle(tag, as: .acknowledgeLater) }
        #expect(machine.frames().isEmpty)
        machine.settle(5, as: .acknowledgeLater)
        let frames = machine.frames()
        #expect(frames == [3, 4, 5].map { .acknowledge($0, isMultiple: false) })
        machine.settle(1, as: .acknowledgeLater)
        #expect(machine.frames() == [.acknowledge(1, isMultiple: true)])
        machine.settle(2, as: .acknowledgeLater)
        #expect(machine.frames() == [.acknowledge(2, isMultiple: true)])
        #expect(machine.outstanding == 0)
    }

    @Test func `Nothing waits once the limit is zero`() {
        var machine = machine(deliveries: 3)
        machine.maxWaiting = 2
        machine.settle(2, as: .acknowledgeLater)
        #expect(machine.frames().isEmpty)
        machine.maxWaiting = 0
        #expect(machine.frames() == [.acknowledge(2, isMultiple: false)])
    }

    @Test func `What is given back leaves before a range that passes it`() {
        var machine = machine(deliveries: 3)
        machine.settle(1, as: .acknowledge)
        machine.settle(3, as: .acknowledge)
        machine.settle(2, as: .requeue)
        #expect(machine.frames() == [.requeue(2), .acknowledge(3, isMultiple: true)])
    }

    @Test func `What is rejected leaves before a range that passes it`() {
        var machine = machine(deliveries: 3)
        machine.settle(1, as: .acknowledge)
        machine.settle(2, as: .reject)
        machine.settle(2, as: .reject)
        machine.settle(3, as: .acknowledge)
        #expect(machine.frames() == [.reject(2), .acknowledge(3, isMultiple: true)])
        #expect(machine.outstanding == 0)
    }

    @Test func `A range never ends at what was given back`() {
        var machine = machine(deliveries: 2)
        machine.settle(1, as: .acknowledge)
        machine.settle(2, as: .requeue)
        #expect(machine.frames() == [.requeue(2), .acknowledge(1, isMultiple: true)])
    }

    @Test func `Settling twice or the unknown is ignored`() {
        var machine = machine(deliveries: 1)
        machine.settle(1, as: .acknowledge)
        machine.settle(1, as: .acknowledge)
        machine.settle(1, as: .requeue)
        machine.settle(0, as: .acknowledge)
        machine.settle(2, as: .acknowledge)
        #expect(machine.frames() == [.acknowledge(1, isMultiple: true)])
        machine.settle(1, as: .acknowledge)
        #expect(machine.frames().isEmpty)
    }

    @Test func `Any order settles each tag once`() {
        for _ in 0..<300 {
            var machine = AckStateMachine()
            machine.maxWaiting = Int.random(in: 0..<8)
            var (delivered, open): (UInt64, Set<UInt64>) = (0, [])
            var settledAtBroker: Set<UInt64> = []
            var givenBack: Set<UInt64> = []
            for _ in 0..<60 {
                if Bool.random() {
                    delivered += 1
                    machine.delivered(delivered)
                    open.insert(delivered)
                }
                if let tag = open.randomElement(), Bool.random() {
                    open.remove(tag)
                    switch Int.random(in: 0..<8) {
                    case 0: machine.settle(tag, as: .requeue)
                    case 1: machine.settle(tag, as: .reject)
                    case 2, 3, 4: machine.settle(tag, as: .acknowledgeLater)
                    default: machine.settle(tag, as: .acknowledge)
                    }
                }
                guard Bool.random() else { continue }
                for frame in machine.frames() {
                    switch frame {
                    case .requeue(let tag), .reject(let tag):
                        #expect(settledAtBroker.insert(tag).inserted)
                        givenBack.insert(tag)
                    case .acknowledge(let tag, let isMultiple):
                        #expect(!settledAtBroker.contains(tag))
                        for covered in (isMultiple ? 1 : tag)...tag {
                            #expect(!open.contains(covered))
                            settledAtBroker.insert(covered)
                        }
                    }
                }
            }
            _ = machine.frames().map { _ in }
            #expect(machine.outstanding == open.count)
        }
    }
}
