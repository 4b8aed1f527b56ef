-- Room for what a lease adds to a row. On pages written half full, three of 27 pending rows found none beside the others' new
-- versions, and went to whatever page of the table has some: another one each, logged as a whole after a checkpoint, and
-- read from the disk where the ledger is large. At 45 none of them moves, for a tenth more of disk.
ALTER TABLE owed.notification SET (fillfactor = 45);
