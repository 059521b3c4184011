# What an attack in sh needs to say how it ended.
succeeded() { echo "SUCCEEDED: $*"; exit 0; }
stopped() { echo "stopped: $*"; exit 1; }
