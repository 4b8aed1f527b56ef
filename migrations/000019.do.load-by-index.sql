-- What is owed is counted by its own index, however large the ledger and wherever the rows lie. A plan for any values takes a
-- third of all rows for owed, since it does not know the seconds given: with the rows scattered over the table it then read
-- all of it, twice a sweep.
ALTER FUNCTION owed.load(double precision, double precision) SET enable_seqscan = off;
