import Glibc
import HearthTime

/// A room as one store of heat: it loses heat to the outdoors in proportion to the difference, and a heater or a cooler adds or takes a
/// constant power. Between two changes the temperature is an exponential towards an equilibrium, so that any instant is computed at once
/// and nothing has to tick.
struct Room {
    /// Heat that is lost for each degree above the outdoors, W/K; 0 is a perfect insulation.
    var heatLoss: Double
    /// Heat that warms the room by one degree, J/K.
    var heatCapacity: Double
    /// °C.
    private(set) var outdoor: Double
    /// What heater (positive) or cooler (negative) add, W.
    private(set) var power: Double = 0

    private var since: ModelInstant
    /// °C at `since`.
    private var initial: Double

    /// - Parameter temperature: °C at `now`.
    init(heatLoss: Double, heatCapacity: Double, outdoor: Double, temperature: Double, now: ModelInstant) {
        (self.heatLoss, self.heatCapacity) = (max(0, heatLoss), max(1, heatCapacity))
        (self.outdoor, initial, since) = (outdoor, temperature, now)
    }

    /// The temperature in °C at an instant that is not before the last change.
    func temperature(at instant: ModelInstant) -> Double {
        let elapsed = Self.seconds(instant - since)
        guard let equilibrium else { return initial + power / heatCapacity * elapsed }
        return equilibrium + (initial - equilibrium) * exp(-elapsed / timeConstant)
    }

    /// When the room next has a temperature, counted from `now`, if nothing changes; nil when it never comes there.
    func delay(until target: Double, from now: ModelInstant) -> Duration? {
        let present = temperature(at: now)
        let seconds: Double
        if let equilibrium {
            // Strictly between here and the equilibrium, else it is behind, or approached for ever.
            guard (target - present) * (equilibrium - target) > 0 else { return nil }
            seconds = timeConstant * log((present - equilibrium) / (target - equilibrium))
        } else {
            guard (target - present) * power > 0 else { return nil }
            seconds = (target - present) * heatCapacity / power
        }
        // A year is as good as never.
        guard seconds.isFinite, seconds < 31_557_600 else { return nil }
        return .nanoseconds(Int64(seconds * 1e9) + 1)
    }

    /// Where the temperature goes: 1 up, -1 down, 0 nowhere.
    func direction(at now: ModelInstant) -> Int {
        let drive = equilibrium.map { $0 - temperature(at: now) } ?? power
        return drive > 0 ? 1 : drive < 0 ? -1 : 0
    }

    mutating func change(at now: ModelInstant, power: Double? = nil, outdoor: Double? = nil, temperature: Double? = nil) {
        (initial, since) = (temperature ?? self.temperature(at: now), now)
        if let power { self.power = power }
        if let outdoor { self.outdoor = outdoor }
    }

    private var timeConstant: Double { heatCapacity / heatLoss }
    private var equilibrium: Double? { heatLoss > 0 ? outdoor + power / heatLoss : nil }

    private static func seconds(_ span: Duration) -> Double { Double(max(0, span.wholeNanoseconds)) / 1e9 }
}
