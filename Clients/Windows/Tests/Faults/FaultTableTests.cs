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
            int cells = 0, struck = 0, completions = 0, secrets = 0;
            var slowest = 0.0;
            var complaints = new List<string>();
            foreach (var cell in FaultCell.All(0))
            {
                cells++;
                try
                {
                    var seen = cell.Run();
                    struck += seen.Struck ? 1 : 0;
                    completions += seen.Completions;
                    secrets += seen.Shown;
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
                "Fault table: {0} faults and none x {1} stages, {2} cells; the fault struck in {3}. Completions {4}, "
                + "one per cell. The wake showed the secret in {5} cells. Slowest: {6:0.00} s. Wrong: {7}.",
                Fault.All.Count - 1, Enum.GetValues(typeof(Stage)).Length, cells, struck, completions, secrets, slowest,
                complaints.Count);
            Assert.That(complaints, Is.Empty, string.Join("\n", complaints.Take(40)));
            Assert.That(cells, Is.GreaterThanOrEqualTo(27 * 10 * 2 * 2));
        }
    }
}
