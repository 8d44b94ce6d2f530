"""What holds for all tests: nothing fails because the machine is busy."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "unhurried", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")
