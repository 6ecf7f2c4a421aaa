"""The sandbox: a real control plane and real database servers on this machine. For development only."""
