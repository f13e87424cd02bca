import ArgumentParser

/// How a command shows what it has to say; every command has these.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON, one object a line, instead of text.")
    var json = false

    @Flag(name: .customLong("no-color"), help: "No colours, as with NO_COLOR set.")
    var noColor = false
}
