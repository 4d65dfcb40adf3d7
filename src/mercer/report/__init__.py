"""What people read: figures and pages."""
