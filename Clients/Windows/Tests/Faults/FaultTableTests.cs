using System;
using System.Collections.Generic;
using System.Linq;
using NUnit.Framework;

namespace SecurePush.Tests
{
    /// <summary>
    /// Every fault at every stage, with simulated time: one completion each, within 28 s, with the generic text in
    /// place of a secret that could not be had; and when everything works again, each secret is shown once.
    /// </summary>
    [TestFixture]
    public sealed class FaultTableTests
    {
        [Test]
        public void EveryFaultAtEveryStageEndsOnceAndInTime()
        {
            int cells = 0, struck = 0, completions = 0, secrets = 0, hints = 0, ignored = 0;
            double slowest = 0;
            FaultCell slowestCell = null;
            var complaints = new List<string>();
            foreach (var cell in FaultCell.All(0))
            {
                cells++;
                try
                {
                    var seen = cell.Run();
                    struck += seen.Struck && seen.HasFault ? 1 : 0;
                    completions += seen.Completions;
                    secrets += seen.Shown;
                    hints += seen.Shown == 0 && seen.Hints > 0 ? 1 : 0;
                    ignored += seen.Shown + seen.Hints == 0 ? 1 : 0;
                    slowestCell = seen.Seconds > slowest ? cell : slowestCell;
                    slowest = Math.Max(slowest, seen.Seconds);
                    var wrong = string.Join(", ", cell.Wrong(seen));
                    complaints.AddRange(wrong == "" ? new string[0] : new[] { cell + ": " + wrong });
                }
                catch (Exception error)
                {
                    complaints.Add(cell + ": " + error);
                }
            }

            Console.WriteLine(
                "Fault table: {0} faults and none x {1} stages x {2} ways, {3} cells; the fault struck in {4}. "
                + "Completions {5}, one per cell. The wake showed the secret in {6} cells and a generic text or prompt "
                + "in {7}; in {8} the push seemed too old. Slowest: {9:0.00} s ({10}). Wrong: {11}.",
                Fault.All.Count - 1, Enum.GetValues(typeof(Stage)).Length, Enum.GetValues(typeof(FaultCell.Way)).Length,
                cells, struck, completions, secrets, hints, ignored, slowest, slowestCell, complaints.Count);
            Console.WriteLine(
                "  No way \"alert\": Windows has no service extension, and alerts come as raw notifications. The way "
                + "Task, a background task, stands for it.");
            Console.WriteLine(
                "  No stage TimeWillExpire in the ways App and Echo: Windows cancels background tasks only.");
            Assert.That(complaints, Is.Empty, string.Join("\n", complaints.Take(40)));
            Assert.That(cells, Is.EqualTo(34 * ((3 * 11) + 1) * 2));
        }
    }
}
