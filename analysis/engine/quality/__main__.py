"""`python -m analysis.engine.quality`."""

from analysis.engine.quality.run import main

raise SystemExit(main())
