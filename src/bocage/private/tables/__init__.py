"""Many tables of counts from one scan, with one price."""
