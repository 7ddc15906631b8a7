"""The heat map: all cards in one picture. `colours` says what a cell can be coloured by, `cells` reads and places them."""
