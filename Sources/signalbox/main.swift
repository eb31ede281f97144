import ArgumentParser
import Configuration
import ServiceLifecycle

print("x")
