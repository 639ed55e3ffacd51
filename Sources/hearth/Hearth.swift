@main
struct Hearth {
    static func main() { print("hearth") }
}
