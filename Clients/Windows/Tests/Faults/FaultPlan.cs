using System;
using System.Threading.Tasks;

namespace SecurePush.Tests
{
    /// <summary>One fault at one stage. The simulated parts ask it before they act.</summary>
    public sealed class FaultPlan : IDeviceFaults
    {
        private const double Jump = 400 * 86400;

        private readonly Stage stage;
        private readonly FaultLength length;
        private readonly SimulatedClock clock;
        private readonly SimulatedDisk disk;
        private bool isActive;
        private bool isHealed;

        public FaultPlan(Fault fault, Stage stage, FaultLength length, SimulatedClock clock, SimulatedDisk disk)
        {
            Fault = fault;
            this.stage = stage;
            this.length = length;
            this.clock = clock;
            this.disk = disk;
        }

        public Fault Fault { get; }

        /// <summary>A call of the system that does not end.</summary>
        private static Task Never => new TaskCompletionSource<bool>().Task;

        public bool HasStruck { get; private set; }

        /// <summary>Sends hostile pushes to the client.</summary>
        public Action Attack { get; set; } = () => { };

        private bool Strikes
        {
            get
            {
                if (!isActive || (length == FaultLength.Once && HasStruck))
                {
                    return false;
                }

                return HasStruck = true;
            }
        }

        /// <summary>The wake has reached a stage.</summary>
        public void Reach(Stage reached)
        {
            if (reached != stage || isActive || isHealed)
            {
                return;
            }

            isActive = true;
            switch (Fault.Kind)
            {
                case FaultKind.ClockForward:
                    clock.DateOffset += Jump;
                    break;
                case FaultKind.ClockBack:
                    clock.DateOffset -= Jump;
                    break;
                case FaultKind.StoreCorrupt:
                    disk.Corrupt();
                    break;
                case FaultKind.HostilePush:
                    Attack();
                    break;
                default:
                    return;
            }

            HasStruck = true;
        }

        /// <summary>Everything works again.</summary>
        public void Heal()
        {
            if (isActive && Fault.Kind == FaultKind.ClockForward)
            {
                clock.DateOffset -= Jump;
            }

            if (isActive && Fault.Kind == FaultKind.ClockBack)
            {
                clock.DateOffset += Jump;
            }

            isActive = false;
            isHealed = true;
        }

        /// <summary>The fault of a request; <c>null</c> if it does not fail.</summary>
        public Fault Request(Stage kind)
        {
            // Both stages ask for a token: one because the old one has expired, one because it was refused.
            Reach(stage == Stage.Refresh && kind == Stage.Token ? Stage.Refresh : kind);
            return Strikes ? Fault : null;
        }

        public Task StoreAsync(bool writes)
        {
            Reach(Stage.Store);
            var cannotWrite = Fault.Kind == FaultKind.StoreFull || Fault.Kind == FaultKind.StoreReadOnly;
            if (isActive && cannotWrite && writes && Strikes)
            {
                throw new ClientStoreException(ClientStoreError.Unwritable);
            }

            if (isActive && Fault.Kind == FaultKind.Locked && Strikes)
            {
                throw new ClientStoreException(ClientStoreError.Locked);
            }

            if (isActive && Fault.Kind == FaultKind.StoreThrows && Strikes)
            {
                throw new InvalidOperationException("The data protection has another fault.");
            }

            return isActive && Fault.Kind == FaultKind.StoreHangs && Strikes ? Never : Task.FromResult(true);
        }

        public Task PresentAsync()
        {
            Reach(Stage.Present);
            if (Fault.Kind == FaultKind.PresenterRefuses && Strikes)
            {
                throw new InvalidOperationException("The system shows nothing.");
            }

            return Fault.Kind == FaultKind.PresenterHangs && Strikes ? Never : Task.FromResult(true);
        }
    }
}
