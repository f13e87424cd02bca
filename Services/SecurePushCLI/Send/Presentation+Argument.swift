public import ArgumentParser
public import SecurePushCore

extension Presentation: ExpressibleByArgument {}
extension Priority: ExpressibleByArgument {}
