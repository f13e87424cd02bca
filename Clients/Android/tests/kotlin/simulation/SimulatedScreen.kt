package securepush.simulation

import securepush.GenericNotice
import securepush.LogInPrompt
import securepush.NotificationPresenter
import securepush.PushID
import securepush.SecretNotification

/** The notifications of the device. They outlive the processes. */
class SimulatedScreen {
    /** Each secret as often as it was shown. Replacing the same secret under its identifier counts, too. */
    val secrets = HashMap<PushID, Int>()
    /** The secrets in the order in which they were shown, with their texts. */
    val shown = ArrayList<Pair<PushID, String>>()
    /** The secrets that the user can see. */
    val visible = LinkedHashSet<PushID>()
    val notices = ArrayList<GenericNotice>()
    val prompts = ArrayList<LogInPrompt>()
    val removed = ArrayList<PushID>()
    var removedPrompts = 0
    var isPrompting = false
    var badges = ArrayList<Int>()

    fun count(id: PushID): Int = secrets[id] ?: 0

    /** How often the user was told something, secrets aside. */
    val hints: Int get() = notices.size + prompts.size
}

/** A process's way to the screen. */
class SimulatedPresenter(
    private val screen: SimulatedScreen, private val process: SimulatedProcess, private val faults: DeviceFaults
) : NotificationPresenter {
    override fun show(secret: SecretNotification) = process.call("show secret") {
        faults.present()
        screen.secrets[secret.id] = screen.count(secret.id) + 1
        screen.shown.add(Pair(secret.id, secret.text ?: secret.json))
        screen.visible.add(secret.id)
        Unit
    }

    override fun show(notice: GenericNotice) = process.call("show notice") {
        screen.notices.add(notice)
        Unit
    }

    override fun show(prompt: LogInPrompt) = process.call("show prompt") {
        screen.prompts.add(prompt)
        screen.isPrompting = true
    }

    override fun remove(ids: List<PushID>) = process.call("remove") {
        screen.removed.addAll(ids)
        screen.visible.removeAll(ids)
        Unit
    }

    override fun removePrompt() = process.call("remove prompt") {
        if (screen.isPrompting) screen.removedPrompts += 1
        screen.isPrompting = false
    }

    override fun setBadge(count: Int) = process.call("set badge") {
        screen.badges.add(count)
        Unit
    }

    override fun displayedSecrets(): Set<PushID>? = process.call("displayed secrets") { HashSet(screen.visible) }
}
